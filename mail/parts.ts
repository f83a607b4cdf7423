import { deliver } from './delivery/deliver.ts';
import { cancelSubmission, submitEmail } from './delivery/email-submission.ts';
import { putOff, releaseWaiting, sendScheduled } from './delivery/schedule.ts';
import { submit } from './delivery/submit.ts';
import { sendVacationAnswer } from './delivery/vacation-answer.ts';
import { imapSearch } from './imap/search/query.ts';
import { finishAttempts } from './relay/store-queue.ts';
import { addAccount, setQuota } from './store/account.ts';
import { addAppPassword, removeAppPassword, setPassword, stampCredentials } from './store/credential.ts';
import { emptyGoneAccount } from './store/account-removal.ts';
import { forgetDeparted } from './store/departed.ts';
import { findTraces, indexJournal } from './store/journal-index.ts';
import { addDomain, verifyDomain } from './store/domain.ts';
import { addIdentity, alignIdentities, changeIdentity, removeIdentity } from './store/identity.ts';
import type { ThreadParts } from './store/engine/thread.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from './store/entry-commands.ts';
import { forgetSubmissions, removeSubmission, submissionFacts, submissionsOf } from './store/jmap-submission.ts';
import { createMailbox, removeMailbox, renameMailbox, subscribeMailbox } from './store/mailbox.ts';
import { mailMigrations } from './store/migrations.ts';
import { forgetNotices, replayNotice, replayNotices, tellOfEmail, trimNotices } from './store/notice.ts';
import { removeOutboundRoute, setOutboundRoute } from './store/outbound-route.ts';
import { beginAttempts, listQueue, queueDepth } from './store/queue.ts';
import { steerQueue } from './store/queue-steering.ts';
import { addUpload, forgetUploads } from './store/jmap-upload.ts';
import { dropVacationJobs, forgetVacationAnswers, keepVacation } from './store/vacation.ts';
import { setSetting } from './store/setting.ts';
import { forgetStsPolicies, keepStsPolicy, useStsPolicy } from './store/sts-policy.ts';
import { addSuppression, removeSuppression } from './store/suppression.ts';
import { emptyGoneMailbox, forgetExpunged, forgetHistory } from './store/tidy.ts';
import { forgetTlsResults } from './store/tls-result.ts';

/** Everything that the mail engine does in the store's threads. */
export function mailParts(): ThreadParts {
  return {
    commands: [
      addAccount,
      addAppPassword,
      addDomain,
      addIdentity,
      addSuppression,
      alignIdentities,
      addUpload,
      appendMessage,
      beginAttempts,
      cancelSubmission,
      changeIdentity,
      copyEntries,
      createMailbox,
      deliver,
      dropVacationJobs,
      emptyGoneAccount,
      emptyGoneMailbox,
      expunge,
      finishAttempts,
      forgetDeparted,
      forgetExpunged,
      forgetHistory,
      forgetNotices,
      forgetStsPolicies,
      forgetSubmissions,
      indexJournal,
      forgetTlsResults,
      forgetUploads,
      forgetVacationAnswers,
      keepStsPolicy,
      keepVacation,
      putOff,
      releaseWaiting,
      removeAppPassword,
      removeIdentity,
      removeMailbox,
      removeOutboundRoute,
      removeSubmission,
      removeSuppression,
      renameMailbox,
      replayNotice,
      replayNotices,
      sendScheduled,
      sendVacationAnswer,
      setOutboundRoute,
      setPassword,
      setQuota,
      setSetting,
      stampCredentials,
      steerQueue,
      storeFlags,
      submit,
      submitEmail,
      subscribeMailbox,
      tellOfEmail,
      trimNotices,
      useStsPolicy,
      verifyDomain,
    ],
    queries: [findTraces, imapSearch, listQueue, queueDepth, submissionFacts, submissionsOf],
    migrations: mailMigrations(),
  };
}
