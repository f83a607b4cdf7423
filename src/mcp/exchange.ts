import type { Caller } from '../operations/caller.ts';
import type { McpAnswer, RpcId } from './answer.ts';
import type { McpRequest, Message } from './request.ts';
import type { SessionId } from './session-id.ts';
import type { Trim } from './trim.ts';

/** What one request has come to on its way through the door. */
export interface Exchange {
  request: McpRequest;
  message: Message;
  id: RpcId;
  caller: Caller;
  session: SessionId | undefined;
  trim: Trim;
  /** Answer headers that were earned on the way. */
  headers: Record<string, string>;
}

export function withHeaders(answer: McpAnswer, headers: Record<string, string>): McpAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
