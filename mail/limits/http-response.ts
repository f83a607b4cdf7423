import type { ClientRequest, IncomingMessage } from 'node:http';

/** Maximum interim responses (1xx) before the response: a server may send them without end. */
const MAX_INTERIM = 10;

/**
 * Resolves with the response to a request; rejects if there is none. Node reports neither a response nor an error when the
 * server answers 101 Switching Protocols, so that a caller would wait without end.
 */
export function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let interim = 0;
  request.once('response', resolve);
  // Not once: the connection may fail a second time while it is closed.
  request.on('error', reject);
  request.on('information', () => {
    if (++interim > MAX_INTERIM) request.destroy(new Error('too many interim responses'));
  });
  request.once('close', () => reject(new Error('no response')));
  return promise;
}
