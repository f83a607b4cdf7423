import type { Called } from './offer.ts';

/** A tool's outcome as the protocol's result, as JSON: its JSON as text, the same structured, and what stands beside it. */
export function toolResult(outcome: Called & { kind: 'done' | 'refused' }): string {
  const json = outcome.kind === 'done' ? outcome.json : JSON.stringify(outcome.refusal);
  const error = outcome.kind === 'refused' ? ',"isError":true' : '';
  const blocks = outcome.kind === 'done' ? (outcome.blocks ?? []).map((block) => `,${JSON.stringify(block)}`) : [];
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}${blocks.join('')}],"structuredContent":${json}${error}}`;
}

/** The header that says when to come back. */
export function retryAfter(outcome: Called): Record<string, string> {
  const seconds = outcome.kind === 'refused' ? outcome.refusal['retryAfterSeconds'] : undefined;
  return typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {};
}
