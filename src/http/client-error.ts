import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { hasRequests } from './request-queue.ts';

/**
 * Answers octets that are no HTTP request, and closes. While a request of the connection runs nothing is written: the
 * client would read it as the answer to that request, or as a part of it.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // An answer to a failed or late TLS handshake would wait for its end, and keep the connection.
  const isHttp = /^(?:HPE_|ERR_HTTP_)/.test(error.code ?? '');
  if (!isHttp || !socket.writable || hasRequests(socket)) return void socket.destroy();
  const [status, message] = reasonOf(error.code);
  const body = JSON.stringify({ error: 'invalid_arguments', message });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nconnection: close`;
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.destroySoon();
}

function reasonOf(code: string | undefined): readonly [status: number, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time. Send it again.'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'The header is larger than 16 KB. Send fewer or shorter fields.'];
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return [413, 'The chunk extensions are too long. Leave them out.'];
  return [400, 'The octets are not a valid HTTP/1.1 request (RFC 9112).'];
}
