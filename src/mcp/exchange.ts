import type { Caller } from '../core/caller.ts';
import type { McpResponse, RpcId } from './rpc-response.ts';
import type { McpRequest, RpcMessage } from './request.ts';
import type { SessionId } from './session-id.ts';
import type { ToolSelection } from './tool-selection.ts';

/** One MCP request with its caller and session. */
export interface McpExchange {
  request: McpRequest;
  message: RpcMessage;
  id: RpcId;
  caller: Caller;
  session: SessionId | undefined;
  trim: ToolSelection;
  /** Response headers collected so far. */
  headers: Record<string, string>;
}

export function withHeaders(answer: McpResponse, headers: Record<string, string>): McpResponse {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
