/** Server name and protocols that a TLS client offers. RFC 6066 3, RFC 7301 3.1. */
export interface ClientHello {
  serverName: string | undefined;
  protocols: readonly string[];
}

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ALPN = 16;
/** Octets of the longest TLS record. */
const MAX_RECORD = 16_384;

/**
 * Reads the first record of a TLS connection; 'more' while it is incomplete, undefined for anything else. Linear: each
 * octet is read once, and lengths never lead outside the record. RFC 8446 4.1.2.
 */
export function readClientHello(octets: Buffer): ClientHello | 'more' | undefined {
  if (octets.length < 5) return octets.length > 0 && octets[0] !== HANDSHAKE ? undefined : 'more';
  const length = octets.readUInt16BE(3);
  if (octets[0] !== HANDSHAKE || length > MAX_RECORD || length < 42) return undefined;
  if (octets.length < 5 + length) return 'more';
  const record = new OctetReader(octets.subarray(5, 5 + length));
  if (record.number(1) !== CLIENT_HELLO) return undefined;
  const hello = record.vector(3);
  hello?.skip(34); // version and random
  hello?.vector(1); // session id
  hello?.vector(2); // cipher suites
  hello?.vector(1); // compression methods
  const extensions = hello?.vector(2);
  return extensions === undefined ? undefined : readExtensions(extensions);
}

function readExtensions(extensions: OctetReader): ClientHello {
  let serverName: string | undefined;
  let protocols: readonly string[] = [];
  while (!extensions.isEmpty) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (type === undefined || body === undefined) break;
    if (type === SERVER_NAME) serverName = hostName(body);
    if (type === ALPN) protocols = protocolNames(body);
  }
  return { serverName, protocols };
}

/** Only one name of type host_name is defined. */
function hostName(body: OctetReader): string | undefined {
  const list = body.vector(2);
  return list?.number(1) === 0 ? list.vector(2)?.text().toLowerCase() : undefined;
}

function protocolNames(body: OctetReader): string[] {
  const names: string[] = [];
  const list = body.vector(2);
  for (let name = list?.vector(1); name !== undefined; name = list?.vector(1)) names.push(name.text());
  return names;
}

/** Reads numbers and vectors; undefined when octets are missing. */
class OctetReader {
  readonly #octets: Buffer;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#octets.length;
  }

  text(): string {
    return this.#octets.toString('latin1');
  }

  skip(count: number): void {
    this.#at += count;
  }

  number(size: 1 | 2 | 3): number | undefined {
    if (this.#at + size > this.#octets.length) return undefined;
    const value = this.#octets.readUIntBE(this.#at, size);
    this.#at += size;
    return value;
  }

  /** A vector with a length of `size` octets before it. */
  vector(size: 1 | 2 | 3): OctetReader | undefined {
    const length = this.number(size);
    if (length === undefined || this.#at + length > this.#octets.length) return undefined;
    const inner = new OctetReader(this.#octets.subarray(this.#at, this.#at + length));
    this.#at += length;
    return inner;
  }
}
