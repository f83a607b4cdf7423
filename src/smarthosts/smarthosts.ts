import { readFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.ts';
import { BOX_SMARTHOST } from '../../mail/relay/next-hop.ts';
import { type OutboundRoute, outboundRoute } from '../../mail/store/queue/outbound-route.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { Smarthost } from '../../mail/relay/smarthost-policy.ts';
import { isIP } from 'node:net';
import type { PrivateNetworks } from '../../config/parse.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { canonicalAddress, isPublicAddress } from '../../mail/dns/public-address.ts';
import { parseDomain } from '../../mail/message/address.ts';
import { mayReach } from '../core/networks.ts';

const PURPOSE = 'smarthost';
const TABLE = 'outbound_route';

/** Encrypts a smarthost password, bound to the route's `ref`. */
export function sealPassword(secrets: SecretBox, ref: string, password: string): Uint8Array {
  return secrets.seal(PURPOSE, TABLE, ref, Buffer.from(password));
}

/** Reads the operator's smarthost; `problem` if its password file is unusable, undefined if none is set. */
export async function boxSmarthost({
  smarthost: given,
}: Settings): Promise<Smarthost | undefined | { problem: string }> {
  if (given === undefined) return undefined;
  const { host, port, tls, username, passwordFile } = given;
  let { password } = given;
  if (passwordFile !== undefined) {
    try {
      password = (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
    } catch (error) {
      return { problem: `MAILSTEAD_SMARTHOST_PASSWORD_FILE cannot be read: ${(error as Error).message}.` };
    }
    if (password === '' || /\p{Cc}/u.test(password)) {
      return { problem: `The file ${passwordFile} must contain the password in one line, without control characters.` };
    }
  }
  const login = password === undefined ? undefined : { username, password };
  return { id: BOX_SMARTHOST, host, port, tls, certificate: 'verified', login };
}

/** Finds smarthosts by route id. */
export class StoredSmarthosts {
  readonly #store: MailStore;
  readonly #secrets: SecretBox;
  readonly #box: Smarthost | undefined;

  constructor(store: MailStore, secrets: SecretBox, box: Smarthost | undefined) {
    this.#store = store;
    this.#secrets = secrets;
    this.#box = box;
  }

  /** Undefined if the route was deleted or no box smarthost is set. Rejects if the password cannot be decrypted. */
  async find(id: number): Promise<Smarthost | undefined> {
    if (id === BOX_SMARTHOST) return this.#box;
    const route = await this.#store.read(outboundRoute, { id });
    if (route === undefined || route.use === 'never') return undefined;
    const { host, port, tls, certificate } = route;
    return { id, host, port, tls, certificate, login: this.#login(route) };
  }

  #login({ ref, username, password }: OutboundRoute): Smarthost['login'] {
    if (password === null) return undefined;
    return { username, password: this.#secrets.open(PURPOSE, TABLE, ref, password).toString() };
  }
}

/** Submission ports; other ports need the operator's permission. */
const SUBMISSION_PORTS = new Set([25, 465, 587, 2525]);
const SETTING = 'MAILSTEAD_ALLOW_PRIVATE_NETWORKS';

/**
 * Checks a tenant's smarthost against SSRF. Each connection repeats the check for the addresses that the name has then.
 */
export async function checkSmarthostTarget(
  given: { host: string; port: number },
  allowed: PrivateNetworks,
  resolver: Resolver,
): Promise<{ host: string } | { problem: string }> {
  const { port } = given;
  const host = isIP(given.host) === 0 ? parseDomain(given.host) : given.host;
  if (host === undefined || host.startsWith('[')) return { problem: 'host is not a host name or an IP address' };
  if (allowed.endpoints.some((place) => place.host === host && place.port === port)) return { host };
  const addresses = await addressesOf(host, resolver);
  if ('problem' in addresses) return allowed.all ? { host } : addresses;
  const inside = addresses.found.filter((ip) => !isPublicAddress(ip));
  if (inside.some((ip) => !mayReach(allowed, canonicalAddress(ip), port))) {
    return {
      problem: `${host} resolves to a private address. The operator can allow it with ${SETTING}`,
    };
  }
  if (inside.length < addresses.found.length && !SUBMISSION_PORTS.has(port)) {
    return { problem: `Port ${port} is not a submission port. Use 587, 465, 2525 or 25` };
  }
  return { host };
}

async function addressesOf(host: string, resolver: Resolver): Promise<{ found: string[] } | { problem: string }> {
  if (isIP(host) !== 0) return { found: [host] };
  // RFC 6761 6.3: never looked up in the DNS.
  if (host === 'localhost' || host.endsWith('.localhost')) return { found: ['127.0.0.1', '::1'] };
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const found = answers.flatMap((answer) => (answer.kind === 'found' ? [...answer.records] : []));
  if (answers.some((answer) => answer.kind === 'trouble')) {
    return { problem: `The DNS lookup of ${host} failed. Try again later` };
  }
  return found.length === 0 ? { problem: `${host} does not exist in the DNS` } : { found };
}
