import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, connect, type Socket, type AddressInfo } from 'node:net';
import { type Answer, decode, type DecodedPacket, encode, streamEncode } from 'dns-packet';
import { freePort } from './free-port.ts';

const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;
const AUTHORITATIVE = 0x0400;
const RECURSION = 0x0180;
const AUTHENTIC = 0x0020;

interface Found {
  code: number;
  answers: Answer[];
}

interface Published {
  name: string;
  type: string;
  value: string;
}

/**
 * The DNS of a small internet on loopback: records are published as lines of a zone file. One listener is the recursive
 * resolver of all clients; it follows CNAMEs and delegations, and a server that refuses makes it fail, also for queries
 * for the name servers. The other listener is the server of all published records, which refers to other servers.
 */
export class Internet implements AsyncDisposable {
  readonly #records: Published[] = [];
  readonly #delegated = new Map<string, number>();
  readonly #endpoints: Endpoint[] = [];
  /** Address of the resolver. */
  address = '';
  /** The resolver says that it validated its answers (AD). */
  secure = false;
  /** Where the servers of the published zones listen, all of them, on loopback. */
  serverPort = 0;

  static async start(): Promise<Internet> {
    const internet = new Internet();
    const resolver = await Endpoint.open((packet) => internet.#resolve(packet));
    const server = await Endpoint.open((packet) => Promise.resolve(internet.#refer(packet)));
    internet.#endpoints.push(resolver, server);
    internet.address = `127.0.0.1:${resolver.port}`;
    internet.serverPort = server.port;
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

  /**
   * A name and all below lead to these name servers, and to no others. `port` is where they listen on loopback; without
   * one they say what was published here.
   */
  delegate(name: string, servers: readonly string[], port?: number): void {
    const rest = this.#records.filter((one) => one.type !== 'NS' || one.name !== name);
    this.#records.length = 0;
    this.#records.push(...rest, ...servers.map((server) => ({ name, type: 'NS', value: `${server}.` })));
    if (port === undefined) this.#delegated.delete(name);
    else this.#delegated.set(name, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#endpoints.map((door) => door.close()));
  }

  async #resolve(packet: Buffer): Promise<Buffer> {
    const { id = 0, question } = queried(packet);
    const { code, answers } = await this.#find(question.name.toLowerCase(), question.type, 0);
    const flags = RECURSION | code | (this.secure ? AUTHENTIC : 0);
    return encode({ type: 'response', id, flags, questions: [question], answers });
  }

  /** RFC 1034 4.3.2: a cut below the top is referred to, everything else is answered. */
  #refer(packet: Buffer): Buffer {
    const { id = 0, question } = queried(packet);
    const name = question.name.toLowerCase();
    const cut = upwards(name).find((one) => one.includes('.') && this.#servers(one).length > 0);
    if (cut !== undefined) {
      const authorities = this.#servers(cut).map(asAnswer);
      return encode({ type: 'response', id, flags: 0, questions: [question], authorities });
    }
    const { code, answers } = this.#own(name, question.type);
    return encode({ type: 'response', id, flags: AUTHORITATIVE | code, questions: [question], answers });
  }

  /** The server of a zone answers with a CNAME alone where it leads out of the zone. RFC 1034 4.3.2. */
  async #follow(found: Found, type: string, depth: number): Promise<Found> {
    const last = found.answers.at(-1);
    if (last?.type !== 'CNAME' || type === 'CNAME' || depth >= 5) return found;
    const { code, answers } = await this.#find(last.data.toLowerCase(), type, depth + 1);
    return { code, answers: [...found.answers, ...answers] };
  }

  #servers(name: string): Published[] {
    return this.#records.filter((one) => one.type === 'NS' && one.name === name);
  }

  #own(name: string, type: string): Found {
    const there = this.#records.some((one) => one.name === name || one.name.endsWith(`.${name}`));
    const answers = this.#records.filter((one) => one.name === name && one.type === type).map(asAnswer);
    return { code: there ? CODES.NOERROR : CODES.NXDOMAIN, answers };
  }

  async #find(name: string, type: string, depth: number): Promise<Found> {
    const zone = upwards(name).find((one) => this.#delegated.has(one));
    const port = zone === undefined ? undefined : this.#delegated.get(zone);
    if (zone !== undefined && port !== undefined) {
      if (!(await this.#leads(zone, depth))) return { code: CODES.SERVFAIL, answers: [] };
      return this.#follow(await askOther(port, name, type), type, depth);
    }
    const alias = this.#records.find((one) => one.name === name && one.type === 'CNAME');
    if (alias === undefined || type === 'CNAME' || depth >= 5) return this.#own(name, type);
    const { code, answers } = await this.#find(alias.value.replace(/\.$/, ''), type, depth + 1);
    return { code, answers: [asAnswer(alias), ...answers] };
  }

  /** True if any name server of a zone has an address, so that a resolver can reach it. */
  async #leads(zone: string, depth: number): Promise<boolean> {
    if (depth >= 5) return false;
    const found = await Promise.all(
      this.#servers(zone).map((one) => this.#find(one.value.replace(/\.$/, ''), 'A', depth + 1)),
    );
    return found.some(({ answers }) => answers.length > 0);
  }
}

/** A port of loopback that answers packets over UDP and TCP. */
class Endpoint {
  readonly #udp = createSocket('udp4');
  readonly #tcp = createServer((client) => this.#serve(client));
  readonly #answer: (packet: Buffer) => Promise<Buffer>;

  private constructor(answer: (packet: Buffer) => Promise<Buffer>) {
    this.#answer = answer;
  }

  static async open(answer: (packet: Buffer) => Promise<Buffer>): Promise<Endpoint> {
    const door = new Endpoint(answer);
    const { promise, resolve } = Promise.withResolvers<void>();
    // A port that the kernel gives is free over TCP, and may be anybody's over UDP.
    door.#tcp.listen(await freePort(), '127.0.0.1', resolve);
    await promise;
    door.#udp.on('message', (packet: Buffer, from: RemoteInfo) => {
      void answer(packet).then((said) => door.#udp.send(said, from.port, from.address));
    });
    door.#udp.bind(door.port, '127.0.0.1');
    await once(door.#udp, 'listening');
    return door;
  }

  get port(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#udp.close();
    this.#tcp.close();
    await once(this.#tcp, 'close');
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
}

function queried(packet: Buffer): DecodedPacket & { question: NonNullable<DecodedPacket['questions']>[number] } {
  const said = decode(packet);
  const [question] = said.questions ?? [];
  if (question === undefined) throw new Error('a packet without a question');
  return { ...said, question };
}

/** A name and all above it. */
function upwards(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, i) => labels.slice(i).join('.'));
}

/** Over TCP, so that nothing is cut. A server that refuses or fails is no server for who resolves. */
async function askOther(port: number, name: string, type: string): Promise<Found> {
  const socket = connect(port, '127.0.0.1');
  socket.write(streamEncode({ type: 'query', id: 1, questions: [{ name, type: type as 'A', class: 'IN' }] }));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    const all = Buffer.concat(chunks);
    if (all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)) break;
  }
  const said = decode(Buffer.concat(chunks).subarray(2));
  const code = (said.flags ?? 0) & 15;
  const sound = code === CODES.NOERROR || code === CODES.NXDOMAIN;
  return sound ? { code, answers: said.answers ?? [] } : { code: CODES.SERVFAIL, answers: [] };
}

function asAnswer({ name, type, value }: { name: string; type: string; value: string }): Answer {
  const base = { name, ttl: 60, class: 'IN' as const };
  const plain = value.replace(/\.$/, '');
  switch (type) {
    case 'MX': {
      const [preference = '0', exchange = ''] = plain.split(' ');
      return { ...base, type, data: { preference: Number(preference), exchange } };
    }
    case 'TLSA': {
      const [usage, selector, matchingType, data = ''] = plain.split(' ');
      const numbers = { usage: Number(usage), selector: Number(selector), matchingType: Number(matchingType) };
      return { ...base, type, data: { ...numbers, certificate: Buffer.from(data, 'hex') } };
    }
    case 'TXT':
      return { ...base, type, data: [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text) };
    default:
      return { ...base, type: type as 'A', data: plain };
  }
}
