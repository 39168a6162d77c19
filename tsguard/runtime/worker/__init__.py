"""What runs inside a worker process, with torch and the user's code."""
