import type { AgentSending } from '../../mail/delivery/agent/types.ts';
import { ALLOW, type Asked, type Policy, type Verdict } from '../../mail/delivery/policy.ts';
import type { Meter } from '../../mail/log.ts';
import type { Reader } from '../../mail/store/exposure.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { publicId, rowId } from '../ids.ts';
import { ExposureLog } from './exposure-log.ts';
import type { Governing } from './governing.ts';
import { agentLogin, agentToken, houseOf } from './queries.ts';

/** Who logged in with a password: its row, and whose it is. */
export interface PasswordLogin {
  readonly account: number;
  readonly credential: number;
}

/**
 * Who of all that read and send is an agent: a token always; the password of a mailbox when that is under an agent policy
 * and the password is not marked as a person's; nobody else.
 */
export class Agents {
  readonly #store: MailStore;
  readonly #governing: Governing;
  readonly #log: ExposureLog;

  constructor({
    store,
    clock,
    meter,
    governing,
  }: {
    store: MailStore;
    clock: () => number;
    meter: Meter;
    governing: Governing;
  }) {
    this.#store = store;
    this.#governing = governing;
    this.#log = new ExposureLog(store, clock, meter);
  }

  /** What the gate is told of who sends. */
  readonly policy: Policy = async (asked) => {
    const agent = await this.#sender(asked);
    return agent === undefined ? ALLOW : ({ kind: 'agent', agent } satisfies Verdict);
  };

  /** Writes down that a token was shown messages of an account, before they are shown. */
  async shownToToken(token: number, account: number, emails: readonly number[]): Promise<void> {
    await this.#log.note(`tok ${token}`, account, emails, () => this.#tokenReader(token));
  }

  /** The same for who logged in with a password; where that is a person nothing is written. */
  async shownToLogin({ account, credential }: PasswordLogin, emails: readonly number[]): Promise<void> {
    await this.#log.note(`pwd ${credential}`, account, emails, () => this.#loginReader({ account, credential }));
  }

  /** The agent that uses a password now; undefined: it is a person's. */
  async isAgentsLogin(login: PasswordLogin): Promise<boolean> {
    return (await this.#loginReader(login)) !== undefined;
  }

  async #sender({ tenant, account, credential, login = null }: Asked): Promise<AgentSending | undefined> {
    const token = credential === null ? undefined : rowId('token', credential);
    if (token !== undefined) return this.#byToken(token, account);
    if (account === null || login === null) return undefined;
    const found = await this.#store.read(agentLogin, { account, credential: login });
    if (found === undefined || found.person) return undefined;
    const governing = await this.#governing({ tenant, accounts: [account], credential: null });
    if (!governing.governed) return undefined;
    const { mode, attended } = found;
    const mailbox = publicId('mailbox', account);
    const who = { credential: mailbox, reader: mailbox, byPassword: true, mode, attended };
    return { ...NOTHING_KNOWN, ...governing, ...who, house: await this.#house(found.tenant) };
  }

  async #byToken(id: number, account: number | null): Promise<AgentSending | undefined> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return undefined;
    const { organization: tenant, mode, root, attended } = found;
    const credential = publicId('token', id);
    const governing = await this.#governing({ tenant, accounts: account === null ? [] : [account], credential });
    const who = { credential, reader: publicId('token', root), byPassword: false, mode, attended };
    return { ...NOTHING_KNOWN, ...governing, ...who, house: await this.#house(tenant) };
  }

  async #tokenReader(id: number): Promise<Reader | undefined> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return undefined;
    const { organization: tenant, root } = found;
    const who = { tenant, reader: publicId('token', root), credential: publicId('token', id), byPassword: false };
    return { ...who, house: await this.#house(tenant) };
  }

  async #loginReader({ account, credential }: PasswordLogin): Promise<Reader | undefined> {
    const found = await this.#store.read(agentLogin, { account, credential });
    if (found === undefined || found.person) return undefined;
    const { tenant } = found;
    if (!(await this.#governing({ tenant, accounts: [account], credential: null })).governed) return undefined;
    const mailbox = publicId('mailbox', account);
    return { tenant, reader: mailbox, credential: mailbox, byPassword: true, house: await this.#house(tenant) };
  }

  #house(organization: number): Promise<string[]> {
    return this.#store.read(houseOf, { organization });
  }
}

/** What only the message says. */
const NOTHING_KNOWN = { answers: null, forwards: false, secrets: [], limits: null } as const;
