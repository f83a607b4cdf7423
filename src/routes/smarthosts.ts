import { readFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.ts';
import type { Smarthost } from '../../mail/relay/smarthosts.ts';
import { BOX_SMARTHOST } from '../../mail/relay/ways.ts';
import { type OutboundRoute, outboundRoute } from '../../mail/store/outbound-route.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';

const PURPOSE = 'smarthost';
const TABLE = 'outbound_route';

/** A password as it is kept, for the route with this `ref` only. */
export function sealPassword(secrets: SecretBox, ref: string, password: string): Uint8Array {
  return secrets.seal(PURPOSE, TABLE, ref, Buffer.from(password));
}

/** The operator's smarthost, or a sentence that says why its password cannot be read. Undefined: there is none. */
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
      return { problem: `The file ${passwordFile} holds no password: one line, without control characters.` };
    }
  }
  const login = password === undefined ? undefined : { username, password };
  return { id: BOX_SMARTHOST, host, port, tls, certificate: 'verified', login };
}

/** Finds smarthosts by the numbers that routes have. */
export class StoredSmarthosts {
  readonly #store: MailStore;
  readonly #secrets: SecretBox;
  readonly #box: Smarthost | undefined;

  constructor(store: MailStore, secrets: SecretBox, box: Smarthost | undefined) {
    this.#store = store;
    this.#secrets = secrets;
    this.#box = box;
  }

  /** Undefined: it was removed, or there is none of the box. Rejects when its password cannot be opened. */
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
