import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { findTsig } from '../../src/dns-providers/rfc2136/tsig.ts';
import { CLASSES, encodeName, encodeRecord, TYPE_NUMBERS, uint16 } from '../../src/dns-providers/rfc2136/wire.ts';

const KEY = { name: 'mailstead', algorithm: 'hmac-sha256' } as const;
const UPDATE = 5;
const HEADER = 12;

/** A primary name server whose owner has the key, so that its answers are signed, whatever they say. */
export interface HostileNameServer extends AsyncDisposable {
  credentials: Record<string, string>;
  /** Data of the MX record that it claims; undefined: it has no records but its SOA. */
  mx: Buffer | undefined;
  /** Number of address records that it claims at every name. */
  addresses: number;
}

export async function hostileNameServer(zone: string): Promise<HostileNameServer> {
  const secret = Buffer.alloc(32, 7);
  const listener = createServer((socket) => {
    let waiting = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      waiting = Buffer.concat([waiting, chunk]);
      while (waiting.length > 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const end = 2 + waiting.readUInt16BE(0);
        const answer = signed(answerTo(waiting.subarray(2, end), zone, server), waiting.subarray(2, end), secret);
        socket.write(Buffer.concat([uint16(answer.length), answer]));
        waiting = waiting.subarray(end);
      }
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const port = String((listener.address() as AddressInfo).port);
  const server: HostileNameServer = {
    credentials: { server: '127.0.0.1', port, keyName: KEY.name, secret: secret.toString('base64') },
    mx: undefined,
    addresses: 0,
    async [Symbol.asyncDispose]() {
      listener.close();
      await once(listener, 'close');
    },
  };
  return server;
}

function answerTo(query: Buffer, zone: string, { mx, addresses }: HostileNameServer): Buffer {
  const isUpdate = ((query.readUInt8(2) >> 3) & 15) === UPDATE;
  const queried = questionIn(query);
  const question = encodeName(queried);
  const type = query.readUInt16BE(HEADER + question.length);
  const head = { name: queried, class: CLASSES.IN, ttl: 300 };
  const soa = Buffer.concat([encodeName(zone), encodeName(zone), Buffer.alloc(20)]);
  const records = [
    ...(!isUpdate && type === TYPE_NUMBERS.SOA && queried === zone ? [{ ...head, type, data: soa }] : []),
    ...(!isUpdate && type === TYPE_NUMBERS.MX && queried === zone && mx ? [{ ...head, type, data: mx }] : []),
    ...Array.from({ length: isUpdate || type === TYPE_NUMBERS.SOA ? 0 : addresses }, (_, i) => addressOf(head, i)),
  ];
  const flags = isUpdate ? 0x8000 | (UPDATE << 11) : 0x8400;
  const header = [query.readUInt16BE(0), flags, 1, records.length, 0, 0].map(uint16);
  return Buffer.concat([...header, question, uint16(type), uint16(CLASSES.IN), ...records.map(encodeRecord)]);
}

function addressOf(head: { name: string; class: number; ttl: number }, i: number) {
  return { ...head, type: 1, data: Buffer.of(10, i >> 16, (i >> 8) & 255, i & 255) };
}

function questionIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER; query.readUInt8(at) !== 0; at += 1 + query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query.readUInt8(at)));
  }
  return labels.join('.');
}

/** Signs a response as RFC 8945 5.3 says, over the code of the request. */
function signed(message: Buffer, request: Buffer, secret: Buffer): Buffer {
  const { mac: before = Buffer.alloc(0), seconds = 0, fudge = 300 } = findTsig(request) ?? {};
  const time = Buffer.alloc(6);
  time.writeUIntBE(seconds, 0, 6);
  const names = [encodeName(KEY.name), uint16(CLASSES.ANY), Buffer.alloc(4), encodeName(KEY.algorithm)];
  const parts = [uint16(before.length), before, message, ...names, time, uint16(fudge), Buffer.alloc(4)];
  const mac = createHmac('sha256', secret).update(Buffer.concat(parts)).digest();
  const tail = [encodeName(KEY.algorithm), time, uint16(fudge), uint16(mac.length), mac, message.subarray(0, 2)];
  const data = Buffer.concat([...tail, Buffer.alloc(4)]);
  const record = encodeRecord({ name: KEY.name, type: TYPE_NUMBERS.TSIG, class: CLASSES.ANY, ttl: 0, data });
  const whole = Buffer.concat([message, record]);
  whole.writeUInt16BE(1, 10);
  return whole;
}
