import { SHOWN_PURPOSE } from './shown-secrets.ts';
import type { AgentMonitor } from '../core/agent-monitor.ts';
import { publicId, rowId } from '../core/ids.ts';
import type { DocumentReader } from '../core/text-tasks.ts';
import type { ReadEvent, WordsEvent } from '../../mail/agents/hooks.ts';
import type { AgentSending, EgressWatch } from '../../mail/agents/gate/types.ts';
import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/agents/policy/effective-policy.ts';
import { ALLOW, type SendingPolicy, type SendVerdict } from '../../mail/agents/gate/sending-policy.ts';
import { areWordsTainted, markWordsOfWriter } from '../../mail/agents/taint/content.ts';
import type { TaintReader } from '../../mail/agents/taint/taint.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { Canaries } from '../canaries/canaries.ts';
import { ReadingLog } from './reading-log.ts';
import { type AgentLogin, agentLogin, agentToken, internalAddresses } from './queries.ts';

/** A password login: its row and its account. */
export interface PasswordLogin {
  readonly account: number;
  readonly credential: number;
}

/** A reader with a token. */
export interface TokenReading {
  readonly token: number;
}

type AgentsOptions = ConstructorParameters<typeof ReadingLog>[0] & {
  secrets: SecretBox;
  /** Prefix of tokens. */
  prefix: string;
  pdfs: DocumentReader;
};

/**
 * Decides which readers and senders are agents: every token, and the password of a mailbox under an agent policy unless the
 * password is marked as a person's.
 */
export class Agents implements AgentMonitor {
  /** Freezes agents that touch canaries. */
  readonly canaries: Canaries;
  readonly #store: MailStore;
  readonly #log: ReadingLog;
  readonly #watch: Omit<EgressWatch, 'tripped'>;

  constructor({ secrets, prefix, pdfs, ...options }: AgentsOptions) {
    this.#store = options.store;
    const key = Uint8Array.from(secrets.subkey(SHOWN_PURPOSE));
    this.#watch = { prefix, key, readDocument: (octets, tenant) => wholeText(pdfs.for(tenant), octets) };
    this.#log = new ReadingLog(options);
    this.canaries = new Canaries({ ...options, key });
  }

  /** Sender facts for the gate. */
  readonly policy: SendingPolicy = async ({ tenant, account, credential, login = null }) => {
    const token = credential === null ? undefined : rowId('token', credential);
    if (token !== undefined) return this.#tokenSends(token, account);
    return account === null || login === null ? ALLOW : this.#loginSends(tenant, { account, credential: login });
  };

  /**
   * Records messages before a token or a password login reads them, and freezes the reader if one is a canary. Resolves when
   * that is on disk: the messages must not be shown before. `protocol` is named in notices.
   */
  async onRead(
    by: TokenReading | PasswordLogin,
    { account, emails, depth }: ReadEvent,
    protocol: string,
  ): Promise<void> {
    const isToken = 'token' in by;
    const key = isToken ? `tok ${by.token}` : `pwd ${by.credential}`;
    const reader = () => this.#reader(by);
    const reading = { key, account, emails, reader };
    await this.#log.taint(reading);
    if (depth !== 'listed') await this.#log.download(reading);
    // Mail programs copy whole messages ahead of time: only a request for the text counts as reading it.
    const opens = isToken ? depth !== 'listed' : depth === 'read';
    if (opens) await this.canaries.opened(async () => (await reader())?.credential, { account, emails, protocol });
  }

  /** Taints an agent that reads text from no mailbox, as of mail that only passes through. */
  async onTextRead(by: TokenReading | PasswordLogin): Promise<void> {
    await this.#log.taintByText(() => this.#reader(by));
  }

  /** Taints an agent that is shown words of tainted agents, and marks words that a tainted agent is about to write. */
  async onWords(by: TokenReading | PasswordLogin, { account, kinds, written }: WordsEvent): Promise<void> {
    if (written) {
      const credential = (await this.#reader(by))?.credential;
      if (credential === undefined) return;
      await this.#store.write(markWordsOfWriter, { account, by: credential, kinds });
    } else if (await this.#store.read(areWordsTainted, { account, kinds })) await this.onTextRead(by);
  }

  #reader(by: TokenReading | PasswordLogin): Promise<TaintReader | undefined> {
    return 'token' in by ? this.#tokenReader(by.token) : this.#loginReader(by);
  }

  /** Reason why a password is rejected while agents are stopped; undefined: it is accepted, or a person's. */
  async barredLogin(login: PasswordLogin): Promise<string | undefined> {
    const found = await this.#store.read(agentLogin, login);
    if (found?.mode !== 'frozen' || found.person) return undefined;
    return (await this.#over(found.tenant, login.account)).governed ? barText(found) : undefined;
  }

  /** Tests if a password is used by an agent; else it is a person's. */
  async isAgentsLogin(login: PasswordLogin): Promise<boolean> {
    return (await this.#loginReader(login)) !== undefined;
  }

  async #tokenSends(id: number, account: number | null): Promise<SendVerdict> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return REVOKED;
    const { organization: tenant, mode, root, from, attended } = found;
    const credential = publicId('token', id);
    const accounts = account === null ? [] : [account];
    const { policy, governed } = await this.#store.read(effectiveAgentPolicy, { tenant, accounts, credential, from });
    const who = { credential, reader: publicId('token', root), byPassword: false, mode, attended };
    return this.#agent(tenant, { ...who, policy, governed });
  }

  async #loginSends(tenant: number, { account, credential }: PasswordLogin): Promise<SendVerdict> {
    const found = await this.#store.read(agentLogin, { account, credential });
    if (found === undefined) return REVOKED;
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

  async #agent(
    tenant: number,
    who: Omit<AgentSending, keyof typeof NO_MESSAGE_FACTS | 'internal'>,
  ): Promise<SendVerdict> {
    const tripped: EgressWatch['tripped'] = (trip) => this.canaries.sent(who.credential, trip);
    const watch = { ...this.#watch, tripped };
    return { kind: 'agent', agent: { ...NO_MESSAGE_FACTS, ...who, watch, internal: await this.#internal(tenant) } };
  }

  async #tokenReader(id: number): Promise<TaintReader | undefined> {
    const found = await this.#store.read(agentToken, { id });
    if (found === undefined) return undefined;
    const { organization: tenant, root } = found;
    const who = { tenant, reader: publicId('token', root), credential: publicId('token', id), byPassword: false };
    return { ...who, internal: await this.#internal(tenant) };
  }

  async #loginReader({ account, credential }: PasswordLogin): Promise<TaintReader | undefined> {
    const found = await this.#store.read(agentLogin, { account, credential });
    if (found === undefined || found.person) return undefined;
    const { tenant } = found;
    if (!(await this.#over(tenant, account)).governed) return undefined;
    const mailbox = publicId('mailbox', account);
    return { tenant, reader: mailbox, credential: mailbox, byPassword: true, internal: await this.#internal(tenant) };
  }

  /** Policy of a mailbox's password. */
  #over(tenant: number, account: number): Promise<EffectivePolicy> {
    return this.#store.read(effectiveAgentPolicy, { tenant, accounts: [account], credential: null });
  }

  #internal(organization: number): Promise<string[]> {
    return this.#store.read(internalAddresses, { organization });
  }
}

/** Truncated text was not scanned whole, so it counts as unreadable. */
async function wholeText(pdfs: DocumentReader, octets: Buffer): Promise<string | undefined> {
  const document = await pdfs.read(octets);
  return document.kind === 'read' && !document.cut ? `${document.text}\n${document.hidden}` : undefined;
}
function barText({ tripped }: AgentLogin): string {
  return tripped
    ? 'This password belongs to a frozen agent. A person can unfreeze it in the portal'
    : 'All agents are stopped, and this password belongs to an agent. A person can start them on the page Agents';
}

/** The token or password was revoked during submission. */
const REVOKED: SendVerdict = { kind: 'refuse', because: 'The token or password was revoked: log in again' };

/** Facts that only the message has. */
const NO_MESSAGE_FACTS = { answers: null, forwards: false, secrets: [], limits: null } as const;
