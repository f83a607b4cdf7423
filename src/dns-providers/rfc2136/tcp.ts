import { connect } from 'node:net';

import { DnsProviderError } from '../provider-error.ts';

const MAX_TCP_OCTETS = 65_535;
const TIMEOUT_MS = 10_000;

/** Sends messages over one TCP connection, one after another, and returns the responses. RFC 7766 6.2.1. */
export async function exchangeAll(
  server: { ip: string; port: number; signal: AbortSignal },
  messages: readonly Buffer[],
): Promise<Buffer[]> {
  const { ip, port, signal } = server;
  const where = `The name server ${ip}`;
  const socket = connect({ host: ip, port });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const abort = (): void => void socket.destroy(new Error('did not answer in time'));
  limit.addEventListener('abort', abort);
  try {
    const responses: Buffer[] = [];
    const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let rest: Buffer = Buffer.alloc(0);
    for (const message of messages) {
      socket.write(Buffer.concat([prefix(message.length), message]));
      const read = await nextMessage(chunks, rest);
      responses.push(read.message);
      rest = read.rest;
    }
    return responses;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DnsProviderError('unavailable', `${where} failed: ${code ?? message}. Try again later.`, {
      cause: error,
    });
  } finally {
    limit.removeEventListener('abort', abort);
    socket.destroy();
  }
}

async function nextMessage(chunks: AsyncIterator<Buffer>, before: Buffer): Promise<{ message: Buffer; rest: Buffer }> {
  const parts = [before];
  let size = before.length;
  let head = before;
  for (;;) {
    if (head.length >= 2 && size >= 2 + head.readUInt16BE(0)) {
      const whole = Buffer.concat(parts);
      const end = 2 + whole.readUInt16BE(0);
      return { message: whole.subarray(2, end), rest: whole.subarray(end) };
    }
    if (size > 2 + MAX_TCP_OCTETS) throw new Error('sent more than a message');
    const { value, done } = await chunks.next();
    if (done === true) throw new Error('closed the connection');
    parts.push(value);
    size += value.length;
    if (head.length < 2) head = Buffer.concat(parts);
  }
}

function prefix(length: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(length);
  return octets;
}
