import { deletesForEver, deletePermanently, mayFile, moveToRole, setKeyword } from './actions.ts';
import { IconButton } from './icons.ts';
import { LabelMenu } from './label-menu.ts';
import type { ThreadMember } from './mail-state.ts';
import { MoveMenu } from './move-menu.ts';
import { attempt } from './notices.ts';
import { withPending } from './pending-keywords.ts';
import { may } from './rights.ts';
import { clearSelection, isAllSelected, selectedCount, selectedRows, toggleWholeList, wholeList } from './selection.ts';
import { snooze, SnoozeMenu } from './snooze.ts';
import { listOfRoute } from './thread-list.ts';
import { formatNumber, t } from './translate.ts';
import { html } from './view.ts';
import { deleteWholeList, fileWholeList, moveWholeList, setWholeListKeyword } from './whole-list-actions.ts';

/** The check box above the list: all of its conversations, or none. */
export function SelectAll() {
  const { total } = listOfRoute();
  if (total === 0) return null;
  const label = t('list.select-all', { count: total });
  return html`<input
    type="checkbox"
    class="select-all"
    title=${label}
    aria-label=${label}
    checked=${isAllSelected()}
    indeterminate=${selectedCount() > 0 && !isAllSelected()}
    onChange=${toggleWholeList}
  />`;
}

/** Actions on the conversations that are selected. */
export function SelectionBar() {
  const isWhole = wholeList() !== undefined;
  const emails = withPending(selectedRows().flatMap((row) => row.emails));
  return html`<header class="list-head selection" role="toolbar" aria-label=${t('list.selection')}>
    <${IconButton} icon="close" label=${t('list.clear-selection')} onClick=${clearSelection} />
    <${SelectedCount} count=${selectedCount()} />
    <${FileButtons} emails=${emails} isWhole=${isWhole} />
    <${SeenButton} emails=${emails} isWhole=${isWhole} />
    ${!isWhole && html`<${SnoozeMenu} onTime=${(at: Date) => void attempt(() => snooze(emails, at))} />`}
    <${MoveMenu} emails=${emails} onFolder=${isWhole ? moveWholeList : undefined} />
    <${LabelMenu} emails=${emails} onLabel=${isWhole ? labelWholeList : undefined} />
  </header>`;
}

/** The number of selected conversations: the bar has no room for its words beside the buttons. */
function SelectedCount({ count }: { count: number }) {
  const words = t('list.selected', { count });
  return html`<strong title=${words}>
    <span aria-hidden="true">${formatNumber(count)}</span><span class="hidden">${words}</span>
  </strong>`;
}

interface SelectionProps {
  /** Emails of the selected conversations that are loaded. */
  emails: readonly ThreadMember[];
  /** True if the action is for the whole list. */
  isWhole: boolean;
}

function FileButtons({ emails, isWhole }: SelectionProps) {
  const file = (role: string, label: string) => () =>
    void (isWhole ? fileWholeList(role, label) : moveToRole(emails, role));
  const button = (role: 'archive' | 'junk' | 'trash', label: string) =>
    mayFile(role, emails) && html`<${IconButton} icon=${role} label=${label} onClick=${file(role, label)} />`;
  return html`${button('archive', t('act.archive'))} ${button('junk', t('act.junk'))}
  ${
    deletesForEver(emails)
      ? html`<${IconButton} icon="trash" label=${t('act.delete')} onClick=${() => askToDelete(emails, isWhole)} />`
      : button('trash', t('act.trash'))
  }`;
}

function askToDelete(emails: readonly ThreadMember[], isWhole: boolean): void {
  const question = isWhole ? t('list.confirm-delete-all', { count: selectedCount() }) : t('list.confirm-delete');
  if (confirm(question)) void (isWhole ? deleteWholeList() : deletePermanently(emails));
}

/** Marks as read, or as unread if all are read. A whole list is marked as read: most of it is not loaded. */
function SeenButton({ emails, isWhole }: SelectionProps) {
  if (!may('maySetSeen', emails)) return null;
  const isRead = isWhole || emails.some(({ keywords }) => keywords['$seen'] !== true);
  const label = isRead ? t('act.mark-read') : t('act.mark-unread');
  const mark = (): void =>
    void (isWhole ? setWholeListKeyword('$seen', true, label) : setKeyword(emails, '$seen', isRead));
  return html`<${IconButton} icon="unread" label=${label} onClick=${mark} />`;
}

const labelWholeList = (label: string, on: boolean): void =>
  void setWholeListKeyword(label, on, on ? t('act.add-label', { label }) : t('act.remove-label', { label }));
