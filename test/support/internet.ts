import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, connect, type Socket, type AddressInfo } from 'node:net';
import { type Answer, decode, encode, streamEncode } from 'dns-packet';

/**
 * The DNS of a small internet on loopback, as the one resolver that everybody asks: records are published as lines of a
 * zone file, delegations lead to other servers, CNAMEs are followed.
 */
export class Internet implements AsyncDisposable {
  readonly #socket = createSocket('udp4');
  readonly #server = createServer((client) => this.#serve(client));
  readonly #records: { name: string; type: string; value: string }[] = [];
  readonly #delegated = new Map<string, number>();
  address = '';

  static async start(): Promise<Internet> {
    const internet = new Internet();
    const { promise, resolve } = Promise.withResolvers<void>();
    internet.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    const { port } = internet.#server.address() as AddressInfo;
    internet.#socket.on('message', (packet: Buffer, from: RemoteInfo) => {
      void internet.#answer(packet).then((said) => internet.#socket.send(said, from.port, from.address));
    });
    internet.#socket.bind(port, '127.0.0.1');
    await once(internet.#socket, 'listening');
    internet.address = `127.0.0.1:${port}`;
    return internet;
  }

  /** Publishes lines such as `example.com. 3600 IN MX 10 mail.example.com.`; comments are allowed. */
  publish(zone: string): void {
    for (const line of zone.split('\n')) {
      const match = /^(\S+?)\.? (?:\d+ )?IN (\S+) (.+)$/.exec(line);
      if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined) continue;
      this.#records.push({ name: match[1].toLowerCase(), type: match[2], value: match[3] });
    }
  }

  /** Questions for a name and all below go to a server at a port of loopback. */
  delegate(name: string, port: number): void {
    this.#delegated.set(name, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    client.once('data', (data: Buffer) => {
      void this.#answer(data.subarray(2)).then((said) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(said.length);
        client.end(Buffer.concat([length, said]));
      });
    });
    client.on('error', () => undefined);
  }

  async #answer(packet: Buffer): Promise<Buffer> {
    const { id = 0, questions = [] } = decode(packet);
    const [question] = questions;
    if (question === undefined) throw new Error('a packet without a question');
    const answers = await this.#find(question.name.toLowerCase(), question.type, 0);
    const nothing = answers.length === 0 && !this.#records.some(({ name }) => name === question.name.toLowerCase());
    const flags = 0x0180 | (nothing ? 3 : 0);
    return encode({ type: 'response', id, flags, questions: [question], answers });
  }

  async #find(name: string, type: string, depth: number): Promise<Answer[]> {
    const labels = name.split('.');
    const parent = labels.map((_, i) => labels.slice(i).join('.')).find((one) => this.#delegated.has(one));
    const port = parent === undefined ? undefined : this.#delegated.get(parent);
    if (port !== undefined && !(type === 'NS' && parent === name)) return askOther(port, name, type);
    const own = this.#records.filter((record) => record.name === name);
    const alias = own.find((record) => record.type === 'CNAME');
    if (alias !== undefined && type !== 'CNAME' && depth < 5) {
      const target = alias.value.replace(/\.$/, '');
      return [asAnswer(alias), ...(await this.#find(target, type, depth + 1))];
    }
    return own.filter((record) => record.type === type).map(asAnswer);
  }
}

/** Over TCP, so that nothing is cut. */
async function askOther(port: number, name: string, type: string): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1');
  socket.write(streamEncode({ type: 'query', id: 1, questions: [{ name, type: type as 'A', class: 'IN' }] }));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    const all = Buffer.concat(chunks);
    if (all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)) break;
  }
  return decode(Buffer.concat(chunks).subarray(2)).answers ?? [];
}

function asAnswer({ name, type, value }: { name: string; type: string; value: string }): Answer {
  const base = { name, ttl: 60, class: 'IN' as const };
  const plain = value.replace(/\.$/, '');
  switch (type) {
    case 'MX': {
      const [preference = '0', exchange = ''] = plain.split(' ');
      return { ...base, type, data: { preference: Number(preference), exchange } };
    }
    case 'TXT':
      return { ...base, type, data: [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text) };
    default:
      return { ...base, type: type as 'A', data: plain };
  }
}
