import type { WriteHooks } from '../store/engine/types.ts';
import { beforeMove } from './approval/moves.ts';
import { isApprovalMailbox } from './approval/mailbox.ts';
import { holdIfPending } from './freeze/hold.ts';
import { markLabels, markNewEmail, markWordsOf } from './taint/content.ts';
import { onChange } from './undo/email-changes.ts';
import { onRuleChange } from './undo/rule-changes.ts';

export { refusedMove } from './approval/moves.ts';
export { recordCanaryMail as onDeliver } from './canary/commands.ts';
export { beforeSubmit, onSubmit, onWait } from './gate/submission.ts';
export type { OnRead, OnWords, ReadDepth, ReadEvent, WordsEvent } from './reading.ts';

/** Hooks of the store's writer: journal agents' changes for undo, and keep mail that awaits approval in its mailbox. */
export const writeHooks: WriteHooks = {
  onChange,
  onNewEmail: markNewEmail,
  onNewKeyword: markLabels,
  onSendersKeywords: (tx, account) => markWordsOf(tx, account, 'labels'),
  onRuleChange,
  beforeMove,
  isReserved: isApprovalMailbox,
  onNotSent: holdIfPending,
};
