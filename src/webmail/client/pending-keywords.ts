import { signal } from '@preact/signals';
import type { EmailSummary } from './jmap-types.ts';

type WithKeywords = Pick<EmailSummary, 'id' | 'keywords'>;

/** A keyword that is set or removed. */
export interface KeywordChange {
  /** Ids of the emails. */
  ids: ReadonlySet<string>;
  keyword: string;
  on: boolean;
}

/** Changes that the server has not answered yet, oldest first. */
const pending = signal<readonly KeywordChange[]>([]);

/** Emails with their keywords as a change makes them. */
export function withKeyword<Member extends WithKeywords>(
  emails: readonly Member[],
  { ids, keyword, on }: KeywordChange,
): Member[] {
  return emails.map((email) =>
    ids.has(email.id) ? { ...email, keywords: { ...email.keywords, [keyword]: on } } : email,
  );
}

/**
 * Emails as the reader has changed them, also before the server has answered. What is read meanwhile is older than the click:
 * shown as it is, it would turn a check box back under the pointer.
 */
export function withPending<Member extends WithKeywords>(emails: Member[]): Member[] {
  return pending.value.reduce(withKeyword<Member>, emails);
}

/** Shows a change while it is sent. `keep` stores it once it is made, so that nothing older is shown in between. */
export async function showWhile(change: KeywordChange, send: () => Promise<void>, keep: () => void): Promise<void> {
  pending.value = [...pending.value, change];
  try {
    await send();
    keep();
  } finally {
    pending.value = pending.value.filter((one) => one !== change);
  }
}
