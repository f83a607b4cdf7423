import { signal } from '@preact/signals';
import { takeFirstSnoozed } from './first-reads.ts';
import { currentAccount, readJson } from './jmap.ts';

/** A snoozed message; `back`: it has come back and is at the top of its folder. */
export interface SnoozedMail {
  email: string;
  until: string;
  back: boolean;
}

/** Search that lists the snoozed messages. */
export const SNOOZED_SEARCH = 'is:snoozed';

/** Snoozed messages, and those that came back within a day; the next one first. */
export const snoozed = signal<readonly SnoozedMail[]>([]);

/** Snoozed messages that have not come back. */
export const sleeping = (): SnoozedMail[] => snoozed.value.filter(({ back }) => !back);

export async function loadSnoozed(): Promise<void> {
  if (!currentAccount().isPersonal) return;
  const first = takeFirstSnoozed();
  keepSnoozed(
    first === undefined ? ((await readJson('/mail/snoozed')) as Record<string, unknown>) : { snoozed: first },
  );
}

/** Keeps the answer of a route about snoozed messages. */
export function keepSnoozed({ snoozed: list }: Record<string, unknown>): void {
  snoozed.value = list as SnoozedMail[];
}
