-- Opens the file that is given, waits for diagnostics, applies the first fix of a code, writes, and quits.
local file, code, out = vim.env.TSGUARD_FILE, vim.env.TSGUARD_CODE, vim.env.TSGUARD_OUT
local report = {}

local function finish()
  local handle = io.open(out, "w")
  handle:write(vim.json.encode(report))
  handle:close()
  vim.cmd("qall!")
end

local function found(wanted)
  return vim.tbl_filter(function(d) return d.code == wanted end, vim.diagnostic.get(0))
end

vim.cmd("edit " .. file)
vim.wait(60000, function() return #found(code) > 0 end, 100)
report.before = vim.tbl_map(function(d) return { code = d.code, line = d.lnum + 1 } end, vim.diagnostic.get(0))
local diagnostic = found(code)[1]
if diagnostic == nil then
  finish()
end
vim.api.nvim_win_set_cursor(0, { diagnostic.lnum + 1, diagnostic.col })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {} }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000)
for id, answer in pairs(answers or {}) do
  for _, action in ipairs(answer.result or {}) do
    if report.applied == nil and action.edit and action.title:find(code, 1, true) then
      report.applied = action.title
      vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(id).offset_encoding)
    end
  end
end
vim.wait(60000, function() return #found(code) == 0 end, 100)
report.after = vim.tbl_map(function(d) return { code = d.code, line = d.lnum + 1 } end, vim.diagnostic.get(0))
vim.cmd("write")
finish()
