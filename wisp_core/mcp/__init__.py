"""The face for programs that speak MCP: `wisp mcp`; filled by the plan's step 11."""
