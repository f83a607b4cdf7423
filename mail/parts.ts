import { deliver } from './delivery/deliver.ts';
import { sendScheduled } from './delivery/schedule.ts';
import { submit } from './delivery/submit.ts';
import { imapSearch } from './imap/search/query.ts';
import { finishAttempts } from './relay/store-queue.ts';
import {
  addAccount,
  addAppPassword,
  removeAppPassword,
  setPassword,
  setQuota,
  stampCredentials,
} from './store/account.ts';
import { emptyGoneAccount } from './store/account-removal.ts';
import { addDomain, verifyDomain } from './store/domain.ts';
import type { ThreadParts } from './store/engine/thread.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from './store/entry-commands.ts';
import { createMailbox, removeMailbox, renameMailbox, subscribeMailbox } from './store/mailbox.ts';
import { mailMigrations } from './store/migrations.ts';
import { beginAttempts, steerQueue } from './store/queue.ts';
import { forgetNotices, replayNotice, replayNotices, tellOfEmail, trimNotices } from './store/notice.ts';
import { setSetting } from './store/setting.ts';
import { addSuppression, removeSuppression } from './store/suppression.ts';
import { emptyGoneMailbox, forgetExpunged, forgetHistory } from './store/tidy.ts';

/** Everything that the mail engine does in the store's threads. */
export function mailParts(): ThreadParts {
  return {
    commands: [
      addAccount,
      addAppPassword,
      addDomain,
      addSuppression,
      appendMessage,
      beginAttempts,
      copyEntries,
      createMailbox,
      deliver,
      emptyGoneAccount,
      emptyGoneMailbox,
      expunge,
      finishAttempts,
      forgetExpunged,
      forgetHistory,
      forgetNotices,
      removeAppPassword,
      removeMailbox,
      removeSuppression,
      renameMailbox,
      replayNotice,
      replayNotices,
      sendScheduled,
      setPassword,
      setQuota,
      setSetting,
      stampCredentials,
      steerQueue,
      storeFlags,
      submit,
      subscribeMailbox,
      tellOfEmail,
      trimNotices,
      verifyDomain,
    ],
    queries: [imapSearch],
    migrations: mailMigrations(),
  };
}
