import type { AgentSending } from '../../mail/delivery/agent/types.ts';
import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/delivery/agent/policy.ts';
import { ALLOW, type Policy, type Verdict } from '../../mail/delivery/policy.ts';
import type { Reader } from '../../mail/store/exposure.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { publicId, rowId } from '../ids.ts';
import { ExposureLog } from './exposure-log.ts';
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
  readonly #log: ExposureLog;

  constructor(options: ConstructorParameters<typeof ExposureLog>[0]) {
    this.#store = options.store;
    this.#log = new ExposureLog(options);
  }

  /** What the gate is told of who sends. */
  readonly policy: Policy = async ({ tenant, account, credential, login = null }) => {
    const token = credential === null ? undefined : rowId('token', credential);
    if (token !== undefined) return this.#tokenSends(token, account);
    return account === null || login === null ? ALLOW : this.#loginSends(tenant, { account, credential: login });
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

  async #tokenSends(id: number, account: number | null): Promise<Verdict> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return GONE;
    const { organization: tenant, mode, root, attended } = found;
    const credential = publicId('token', id);
    const accounts = account === null ? [] : [account];
    const { policy, governed } = await this.#store.read(effectiveAgentPolicy, { tenant, accounts, credential });
    const who = { credential, reader: publicId('token', root), byPassword: false, mode, attended };
    return this.#agent(tenant, { ...who, policy, governed });
  }

  async #loginSends(tenant: number, { account, credential }: PasswordLogin): Promise<Verdict> {
    const found = await this.#store.read(agentLogin, { account, credential });
    if (found === undefined) return GONE;
    const { policy, governed } = await this.#over(tenant, account);
    if (found.person || !governed) return ALLOW;
    const { mode, attended } = found;
    const mailbox = publicId('mailbox', account);
    return this.#agent(tenant, {
      credential: mailbox,
      reader: mailbox,
      byPassword: true,
      mode,
      attended,
      policy,
      governed,
    });
  }

  async #agent(tenant: number, who: Omit<AgentSending, keyof typeof NOTHING_KNOWN | 'house'>): Promise<Verdict> {
    return { kind: 'agent', agent: { ...NOTHING_KNOWN, ...who, house: await this.#house(tenant) } };
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
    if (!(await this.#over(tenant, account)).governed) return undefined;
    const mailbox = publicId('mailbox', account);
    return { tenant, reader: mailbox, credential: mailbox, byPassword: true, house: await this.#house(tenant) };
  }

  /** The policy under which the password of a mailbox is. */
  #over(tenant: number, account: number): Promise<EffectivePolicy> {
    return this.#store.read(effectiveAgentPolicy, { tenant, accounts: [account], credential: null });
  }

  #house(organization: number): Promise<string[]> {
    return this.#store.read(houseOf, { organization });
  }
}

/** It was taken away while the message was on its way. */
const GONE: Verdict = { kind: 'refuse', because: 'What it was sent with holds no more: log in again' };

/** What only the message says. */
const NOTHING_KNOWN = { answers: null, forwards: false, secrets: [], limits: null } as const;
