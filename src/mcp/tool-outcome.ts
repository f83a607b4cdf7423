import type { Block } from '../core/operation.ts';
import type { Refusal } from '../core/refusal.ts';

/** Outcome of one tool call. */
export type ToolOutcome =
  | {
      kind: 'done';
      json: string;
      /** Additional content blocks. */
      blocks?: readonly Block[];
      /** Token created by a bootstrap tool. */
      token: string | undefined;
    }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'unknown' };

/** A tool outcome as serialized CallToolResult: JSON as text and structured content, with additional blocks. */
export function toolResult(outcome: ToolOutcome & { kind: 'done' | 'refused' }): string {
  const json = outcome.kind === 'done' ? outcome.json : JSON.stringify(outcome.refusal);
  const error = outcome.kind === 'refused' ? ',"isError":true' : '';
  const blocks = outcome.kind === 'done' ? (outcome.blocks ?? []).map((block) => `,${JSON.stringify(block)}`) : [];
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}${blocks.join('')}],"structuredContent":${json}${error}}`;
}

/** Retry-After header of a refusal. */
export function retryAfter(outcome: ToolOutcome): Record<string, string> {
  const seconds = outcome.kind === 'refused' ? outcome.refusal['retryAfterSeconds'] : undefined;
  return typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {};
}
