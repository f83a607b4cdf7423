import { moveEmails, moveToRole } from './actions.ts';
import { folderName } from './folder-names.ts';
import type { MailFolder } from './jmap-types.ts';
import type { ThreadRow } from './mail-state.ts';
import { route } from './route.ts';
import { isSelected, selectedCount, selectedRows, wholeList } from './selection.ts';
import { threadList } from './thread-list.ts';
import { t } from './translate.ts';
import { moveWholeList } from './whole-list-actions.ts';

const TYPE = 'text/x-thread';
/** In the place of ids: all conversations of the list. */
const WHOLE_LIST = '*';

/** Begins to drag a row of the list, and with a selected row all that are selected. */
export function dragThread({ dataTransfer }: DragEvent, { id }: ThreadRow): void {
  if (dataTransfer === null) return;
  const isOne = !isSelected(id);
  const ids = isOne ? [id] : wholeList() === undefined ? selectedRows().map((row) => row.id) : [WHOLE_LIST];
  dataTransfer.setData(TYPE, ids.join(' '));
  dataTransfer.effectAllowed = 'move';
  const image = document.createElement('div');
  image.className = 'drag-image';
  image.textContent = t('list.count', { count: isOne ? 1 : selectedCount() });
  document.body.append(image);
  dataTransfer.setDragImage(image, -12, -4);
  setTimeout(() => image.remove());
}

/** True while conversations are dragged over a folder that takes them. */
export function takesDrag({ dataTransfer }: DragEvent, { id, role, myRights }: MailFolder): boolean {
  const isThread = dataTransfer?.types.includes(TYPE) === true;
  return isThread && id !== route.value.folder && role !== 'drafts' && myRights.mayAddItems;
}

/** Moves the conversations that were dropped on a folder. */
export async function dropThreads({ dataTransfer }: DragEvent, folder: MailFolder): Promise<void> {
  const ids = dataTransfer?.getData(TYPE).split(' ') ?? [];
  if (ids[0] === WHOLE_LIST) {
    if (wholeList() !== undefined) await moveWholeList(folder);
    return;
  }
  const emails = [...threadList.value.rows.values()].filter(({ id }) => ids.includes(id)).flatMap((row) => row.emails);
  if (emails.length === 0) return;
  if (folder.role === null) await moveEmails(emails, folder.id, t('done.moved', { folder: folderName(folder) }));
  else await moveToRole(emails, folder.role);
}
