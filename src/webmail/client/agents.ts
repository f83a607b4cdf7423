import { signal } from '@preact/signals';
import { currentAccount, postForm, readJson } from './jmap.ts';
import { route } from './route.ts';

export interface ShownAgent {
  name: string;
  /** Mode of its token; null: it uses a password. */
  mode: string | null;
  mayPause: boolean;
}

/** Mail of an agent that needs approval, or needed it. */
export interface HeldMail {
  state: string;
  agent: string;
  recipients: string[];
  reasons: string[];
  hadRead: { author: string; authentic: boolean }[];
  expiresAt: string;
  decidedBy: string | null;
  /** Page of the portal, if approving needs the password there. */
  page: string | null;
}

export interface ChangeByAgent {
  emailId: string;
  agent: string;
  at: string;
  from: string[];
  to: string[];
  added: string[];
  removed: string[];
}

/** Agents in a thread: their messages, changes and requests, by the ids of emails and agents. */
export interface AgentsInThread {
  thread: string;
  mayDecide: boolean;
  agents: Record<string, ShownAgent>;
  written: Record<string, string>;
  approvals: Record<string, HeldMail>;
  changes: ChangeByAgent[];
  claim: { agent: string; until: string } | null;
}

const NOBODY: Omit<AgentsInThread, 'thread'> = {
  mayDecide: false,
  agents: {},
  written: {},
  approvals: {},
  changes: [],
  claim: null,
};

const loaded = signal<AgentsInThread>({ thread: '', ...NOBODY });

/** Agents of the thread that is open; nobody while they load. */
export function openAgents(): AgentsInThread {
  const thread = route.value.thread ?? '';
  return loaded.value.thread === thread ? loaded.value : { thread, ...NOBODY };
}

/** Loads what agents did in a thread. */
export async function loadAgents(thread: string): Promise<void> {
  if (!currentAccount().isPersonal) return;
  const found = (await readJson(`/mail/agents/${encodeURIComponent(thread)}`)) as Omit<AgentsInThread, 'thread'>;
  if (route.value.thread === thread) loaded.value = { thread, ...found };
}

/** Does something about an agent; throws MailError with the reason of a refusal. */
export async function actOnAgent(act: string, fields: Record<string, string>): Promise<Record<string, unknown>> {
  return postForm(`/mail/agents/${act}`, fields);
}
