import { inOpenFolder, reloadThread, setKeyword } from './actions.ts';
import { fullTime } from './format.ts';
import { postForm } from './jmap.ts';
import type { FullEmail } from './jmap-types.ts';
import { snoozeTimes } from './later-times.ts';
import type { ThreadMember } from './mail-state.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { keepSnoozed, sleeping } from './snoozed.ts';
import { ownsAccount } from './rights.ts';
import { clearSelection } from './selection.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { TimeMenu } from './time-menu.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The server takes times within a year. */
const MAX_DAYS = 365;

interface SnoozeMenuProps {
  onTime: (at: Date) => void;
}

/** A menu of times until which conversations are hidden. */
export function SnoozeMenu({ onTime }: SnoozeMenuProps) {
  if (!ownsAccount()) return null;
  return html`<${TimeMenu}
    name="snooze"
    label=${t('act.snooze')}
    submit=${t('act.snooze')}
    times=${snoozeTimes}
    maxDays=${MAX_DAYS}
    onTime=${onTime}
  />`;
}

/** Hides messages of the open folder until a time, and offers to undo it. */
export async function snooze(emails: readonly ThreadMember[], at: Date): Promise<void> {
  const chosen = inOpenFolder(emails);
  const unread = chosen.filter(({ keywords }) => keywords['$seen'] !== true);
  clearSelection();
  for (const thread of Map.groupBy(chosen, ({ threadId }) => threadId).values()) await send(thread, at);
  await reload();
  showNotice(t('snooze.until', { time: fullTime(at.toISOString()) }), async () => {
    await send(chosen, undefined);
    await setKeyword(
      unread.map((one) => ({ ...one, keywords: { ...one.keywords, $seen: true } })),
      '$seen',
      false,
    );
    await reload();
    hideNotice();
  });
}

/** Snoozes the messages of one conversation; its newest comes back as unread. Without a time it ends the snooze. */
async function send(emails: readonly ThreadMember[], at: Date | undefined): Promise<void> {
  const newest = emails.toSorted((a, b) => a.receivedAt.localeCompare(b.receivedAt)).at(-1);
  const ids = emails.map(({ id }) => id).join(' ');
  keepSnoozed(await postForm('/mail/snooze', { emails: ids, lead: newest?.id ?? '', until: at?.toISOString() ?? '' }));
}

async function reload(): Promise<void> {
  dropLoadedThreads();
  await Promise.all([refreshList(), reloadThread()]);
}

/** Says until when a message is snoozed, and ends that. */
export function SnoozeNote({ email }: { email: FullEmail }) {
  const found = sleeping().find((one) => one.email === email.id);
  if (found === undefined) return null;
  const end = async (): Promise<void> => {
    await send([email], undefined);
    await reload();
  };
  return html`<p class="bar">
    <span>${t('snooze.until', { time: fullTime(found.until) })}</span>
    ${ownsAccount() && html`<button type="button" class="link" onClick=${() => void attempt(end)}>${t('snooze.end')}</button>`}
  </p>`;
}
