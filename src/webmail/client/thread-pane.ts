import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  deletesForEver,
  deletePermanently,
  isInRole,
  mayFile,
  moveToRole,
  setKeyword,
  withOpenThread,
} from './actions.ts';
import { AgentNotes } from './agent-notes.ts';
import { loadAgents } from './agents.ts';
import { composeDraft } from './compose-state.ts';
import { IconButton } from './icons.ts';
import { LabelChips, LabelMenu } from './label-menu.ts';
import type { MailFolder } from './jmap-types.ts';
import { loadedThread, openThread, type ThreadMember } from './mail-state.ts';
import { MessageCard } from './message-card.ts';
import { MoveMenu, moveToFolder } from './move-menu.ts';
import { attempt } from './notices.ts';
import { canSend, may } from './rights.ts';
import { go, route } from './route.ts';
import { snooze, SnoozeMenu } from './snooze.ts';
import { loadThread } from './thread-list.ts';
import { rich } from './rich-message.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Emails that are unfolded. */
const unfolded = signal<ReadonlySet<string>>(new Set());

async function open(id: string): Promise<void> {
  const emails = await loadThread(id);
  if (route.value.thread !== id) return;
  const unread = emails.filter(({ keywords }) => keywords['$seen'] !== true);
  const last = emails.at(-1);
  unfolded.value = new Set([...unread.map((one) => one.id), ...(last === undefined ? [] : [last.id])]);
  loadedThread.value = { id, emails };
  if (last?.keywords['$draft'] === true && isInRole('drafts') && canSend()) await composeDraft(last);
  if (may('maySetSeen', unread)) await setKeyword(unread, '$seen', true);
}

/** The thread that is open. */
export function ThreadPane() {
  const { thread } = route.value;
  useEffect(() => {
    if (thread === undefined) return;
    void attempt(() => open(thread));
    void attempt(() => loadAgents(thread));
  }, [thread]);
  if (thread === undefined) {
    return html`<section class="thread none" aria-label=${t('reader.conversation')}>
      <p class="empty">${rich('reader.choose', { key: html`<kbd>?</kbd>` })}</p>
    </section>`;
  }
  const emails = openThread.value;
  const subject = emails[0]?.subject ?? '';
  return html`<section
    class="thread"
    aria-label=${t('reader.conversation')}
    data-thread-id=${emails.length === 0 ? '' : thread}
  >
    <${ThreadBar} />
    <div class="thread-body" tabindex="-1">
      ${
        emails.length === 0
          ? html`<p class="empty" role="status">${t('list.loading')}</p>`
          : html`<h1>
              ${subject === '' ? t('list.no-subject') : subject} <${LabelChips} emails=${emails} links=${true} />
            </h1>`
      }
      <${AgentNotes} />
      ${emails.map((email) => html`<${MessageCard} key=${email.id} email=${email} isOpen=${unfolded.value.has(email.id)} onToggle=${() => toggle(email.id)} />`)}
    </div>
  </section>`;
}

function toggle(id: string): void {
  const next = new Set(unfolded.value);
  if (!next.delete(id)) next.add(id);
  unfolded.value = next;
}

/** Moves the open thread away and closes it. */
export function fileThread(role: string): Promise<void> {
  return withOpenThread((emails) => {
    if (mayFile(role, emails)) go({});
    return moveToRole(emails, role);
  });
}

function deleteThread(): void {
  if (!confirm(t('list.confirm-delete'))) return;
  void withOpenThread((emails) => (go({}), deletePermanently(emails)));
}

const isStarred = (emails: readonly ThreadMember[]): boolean =>
  emails.some(({ keywords }) => keywords['$flagged'] === true);

function turnStar(): void {
  void withOpenThread((emails) =>
    isStarred(emails) ? setKeyword(emails, '$flagged', false) : setKeyword(emails.slice(-1), '$flagged', true),
  );
}

/** Acts on the open thread. Its messages may still be loading: each action waits for them. */
function ThreadBar() {
  const emails = openThread.value;
  const starred = isStarred(emails);
  return html`<header class="thread-bar" role="toolbar" aria-label=${t('reader.conversation')}>
    <${IconButton} icon="back" label=${t('act.back')} className="back" onClick=${() => go({})} />
    ${
      mayFile('archive', emails) &&
      html`<${IconButton} icon="archive" label=${t('act.archive')} onClick=${() => void fileThread('archive')} />`
    }
    ${
      isInRole('junk') && mayFile('inbox', emails)
        ? html`<button type="button" class="small" onClick=${() => void fileThread('inbox')}>
            ${t('act.not-junk')}
          </button>`
        : mayFile('junk', emails) &&
          html`<${IconButton} icon="junk" label=${t('act.junk')} onClick=${() => void fileThread('junk')} />`
    }
    ${
      deletesForEver(emails)
        ? html`<button type="button" class="small bad" onClick=${deleteThread}>${t('act.delete')}</button>`
        : mayFile('trash', emails) &&
          html`<${IconButton} icon="trash" label=${t('act.trash')} onClick=${() => void fileThread('trash')} />`
    }
    ${
      may('maySetSeen', emails.slice(-1)) &&
      html`<${IconButton}
        icon="unread"
        label=${t('act.mark-unread')}
        onClick=${() => void withOpenThread((all) => (go({}), setKeyword(all.slice(-1), '$seen', false)))}
      />`
    }
    ${
      may('maySetKeywords', emails) &&
      html`<${IconButton}
        icon="star"
        label=${starred ? t('act.unstar') : t('act.star')}
        pressed=${starred}
        className="star"
        onClick=${turnStar}
      />`
    }
    <${SnoozeMenu} onTime=${(at: Date) => withOpenThread((all) => (go({}), snooze(all, at)))} />
    <${MoveMenu} emails=${emails} onFolder=${(to: MailFolder) => withOpenThread((all) => moveToFolder(all, to))} />
    <${LabelMenu}
      emails=${emails}
      onLabel=${(label: string, on: boolean) => void withOpenThread((all) => setKeyword(all, label, on))}
    />
  </header>`;
}
