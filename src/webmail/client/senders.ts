import { signal } from '@preact/signals';
import { postForm, readJson } from './jmap.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { t } from './translate.ts';

/** A sender that is blocked or always allowed. */
export interface KnownSender {
  id: string;
  kind: 'allow' | 'block';
  /** Address, domain, *.domain or network. */
  pattern: string;
}

/** Rules of the mailbox, newest first; undefined until they are loaded. */
export const senderRules = signal<readonly KnownSender[] | undefined>(undefined);

export async function loadSenderRules(): Promise<void> {
  keep((await readJson('/mail/senders')) as Record<string, unknown>);
}

function keep({ rules }: Record<string, unknown>): void {
  senderRules.value = rules as KnownSender[];
}

/** Adds a rule; one for the same sender is replaced. */
export async function addKnownSender(kind: KnownSender['kind'], pattern: string): Promise<void> {
  keep(await postForm('/mail/senders/add', { kind, pattern }));
}

export async function removeKnownSender({ id }: KnownSender): Promise<void> {
  keep(await postForm('/mail/senders/remove', { rule: id }));
}

const DONE = {
  block: (sender: string) => t('sender.did-block', { sender }),
  allow: (sender: string) => t('sender.did-allow', { sender }),
} as const;

/** Blocks a sender or always allows it, with undo. */
export function ruleFor(kind: KnownSender['kind'], sender: string): Promise<void> {
  return attempt(async () => {
    await addKnownSender(kind, sender);
    showNotice(DONE[kind](sender), async () => {
      const added = senderRules.value?.find(({ pattern }) => pattern === sender.toLowerCase());
      if (added !== undefined) await removeKnownSender(added);
      hideNotice();
    });
  });
}
