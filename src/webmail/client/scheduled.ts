import { signal } from '@preact/signals';
import { composeDraft } from './compose-state.ts';
import { fullTime } from './format.ts';
import type { FullEmail } from './jmap-types.ts';
import { currentAccount, methods } from './jmap.ts';
import { attempt } from './notices.ts';
import { canSend } from './rights.ts';
import { cancelSubmission } from './submission.ts';
import { dropLoadedThreads, refreshList } from './thread-list.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface PendingSubmission {
  id: string;
  emailId: string;
  sendAt: string;
}

/** Messages that are sent later, by the id of their email. */
const pending = signal<ReadonlyMap<string, PendingSubmission>>(new Map());

/** Loads what is sent later. RFC 8621 7.3. */
export async function loadPending(): Promise<void> {
  if (!currentAccount().canSubmit) return;
  const [, found] = await methods(
    ['EmailSubmission/query', { filter: { undoStatus: 'pending' }, limit: 200 }],
    [
      'EmailSubmission/get',
      {
        '#ids': { resultOf: '0', name: 'EmailSubmission/query', path: '/ids' },
        properties: ['id', 'emailId', 'sendAt'],
      },
    ],
  );
  const list = (found?.['list'] ?? []) as PendingSubmission[];
  pending.value = new Map(list.map((one) => [one.emailId, one]));
}

/** Says when a message will be sent, and lets its author cancel that. */
export function PendingNote({ email }: { email: FullEmail }) {
  const submission = pending.value.get(email.id);
  if (submission === undefined) return null;
  return html`<p class="bar">
    <span>${t('compose.will-be-sent', { time: fullTime(submission.sendAt) })}</span>
    ${
      canSend() &&
      html`<button type="button" class="link" onClick=${() => void attempt(() => cancelAndEdit(submission, email))}>
        ${t('button.cancel-edit')}
      </button>`
    }
  </p>`;
}

async function cancelAndEdit({ id }: PendingSubmission, email: FullEmail): Promise<void> {
  await cancelSubmission(id, email.id);
  await loadPending();
  dropLoadedThreads();
  await composeDraft(email);
  await refreshList();
}
