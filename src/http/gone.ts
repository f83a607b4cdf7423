import type { ServerResponse } from 'node:http';

/** A signal that is aborted when the peer of an answer is gone, or has it. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  response.once('close', () => gone.abort());
  return gone.signal;
}
