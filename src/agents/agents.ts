import type { AgentSending, EgressWatch } from '../../mail/delivery/agent/types.ts';
import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/delivery/agent/policy.ts';
import { ALLOW, type Policy, type Verdict } from '../../mail/delivery/policy.ts';
import type { Reader } from '../../mail/store/exposure.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { publicId, rowId } from '../ids.ts';
import { ExposureLog } from './exposure-log.ts';
import { HandedOutLog } from './handed-out-log.ts';
import { Canaries } from '../canaries/canaries.ts';
import type { PdfReader } from '../reading/pdf/read-pdf.ts';
import { SHOWN_PURPOSE } from '../sending/shown-secrets.ts';
import { type AgentLogin, agentLogin, agentToken, houseOf } from './queries.ts';

/** Who logged in with a password: its row, and whose it is. */
export interface PasswordLogin {
  readonly account: number;
  readonly credential: number;
}

type Needs = ConstructorParameters<typeof ExposureLog>[0] & {
  secrets: SecretBox;
  /** What tokens begin with. */
  prefix: string;
  pdfs: Pick<PdfReader, 'read'>;
};

/**
 * Who of all that read and send is an agent: a token always; the password of a mailbox when that is under an agent policy
 * and the password is not marked as a person's; nobody else.
 */
export class Agents {
  /** Who of them went where nobody has a reason to go. */
  readonly canaries: Canaries;
  readonly #store: MailStore;
  readonly #log: ExposureLog;
  readonly #handedOut: HandedOutLog;
  readonly #watch: Omit<EgressWatch, 'tripped'>;

  constructor({ secrets, prefix, pdfs, ...options }: Needs) {
    this.#store = options.store;
    const key = Uint8Array.from(secrets.subkey(SHOWN_PURPOSE));
    this.#watch = { prefix, key, readDocument: (octets) => wholeText(pdfs, octets) };
    this.#log = new ExposureLog(options);
    this.#handedOut = new HandedOutLog(options);
    this.canaries = new Canaries({ ...options, key });
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

  /** The same of text that lies in no mailbox, as that of mail which only passes through. */
  async shownTextToToken(token: number): Promise<void> {
    await this.#log.noteText(() => this.#tokenReader(token));
  }

  /** The same for who logged in with a password; where that is a person nothing is written. */
  async shownToLogin({ account, credential }: PasswordLogin, emails: readonly number[]): Promise<void> {
    await this.#log.note(`pwd ${credential}`, account, emails, () => this.#loginReader({ account, credential }));
  }

  /** Writes down that a token is handed messages of an account whole, or parts of them, before they are. */
  async handedToToken(token: number, account: number, emails: readonly number[]): Promise<void> {
    await this.#handedOut.note(`tok ${token}`, account, emails, () => this.#tokenReader(token));
  }

  /** The same for who logged in with a password; where that is a person nothing is written. */
  async handedToLogin({ account, credential }: PasswordLogin, emails: readonly number[]): Promise<void> {
    await this.#handedOut.note(`pwd ${credential}`, account, emails, () => this.#loginReader({ account, credential }));
  }

  /** Stops who opened the message of a canary with a password; where that is a person nothing happens. */
  async openedByLogin(login: PasswordLogin, emails: readonly number[], door: string): Promise<void> {
    const { account } = login;
    const who = async () => ((await this.isAgentsLogin(login)) ? publicId('mailbox', account) : undefined);
    await this.canaries.opened(who, { account, emails, door });
  }

  /** Why a password opens nothing while agents are stopped; undefined: it does, or it is a person's. */
  async barredLogin(login: PasswordLogin): Promise<string | undefined> {
    const found = await this.#store.read(agentLogin, login);
    if (found?.mode !== 'frozen' || found.person) return undefined;
    return (await this.#over(found.tenant, login.account)).governed ? whyBarred(found) : undefined;
  }

  /** Whether it is an agent that uses a password now; else it is a person's. */
  async isAgentsLogin(login: PasswordLogin): Promise<boolean> {
    return (await this.#loginReader(login)) !== undefined;
  }

  async #tokenSends(id: number, account: number | null): Promise<Verdict> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return GONE;
    const { organization: tenant, mode, root, from, attended } = found;
    const credential = publicId('token', id);
    const accounts = account === null ? [] : [account];
    const { policy, governed } = await this.#store.read(effectiveAgentPolicy, { tenant, accounts, credential, from });
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
    const tripped: EgressWatch['tripped'] = (trip) => this.canaries.sent(who.credential, trip);
    const watch = { ...this.#watch, tripped };
    return { kind: 'agent', agent: { ...NOTHING_KNOWN, ...who, watch, house: await this.#house(tenant) } };
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

/** What is cut off was not looked at, so there is no text then either. */
async function wholeText(pdfs: Pick<PdfReader, 'read'>, octets: Buffer): Promise<string | undefined> {
  const said = await pdfs.read(octets);
  return said.kind === 'read' && !said.cut ? `${said.text}\n${said.hidden}` : undefined;
}
function whyBarred({ tripped }: AgentLogin): string {
  return tripped
    ? 'This password is one of an agent that is frozen: a person lets it work again in the portal'
    : 'All agents are stopped, and this password is one of an agent: a person starts them on the page Agents';
}

/** It was taken away while the message was on its way. */
const GONE: Verdict = { kind: 'refuse', because: 'What it was sent with holds no more: log in again' };

/** What only the message says. */
const NOTHING_KNOWN = { answers: null, forwards: false, secrets: [], limits: null } as const;
