// Starts `tsguard server` for Python files; everything else is the server's work.
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const command = vscode.workspace.getConfiguration("tsguard").get<string[]>("command", ["tsguard", "server"]);
  const [executable, ...args] = command;
  client = new LanguageClient(
    "tsguard",
    "tsguard",
    { command: executable, args, transport: TransportKind.stdio },
    {
      documentSelector: [{ scheme: "file", language: "python" }],
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.py,pyproject.toml,tsguard.toml}") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(`${executable} does not start: pip install 'tsguard[server]' (${error})`);
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("tsguard.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}
