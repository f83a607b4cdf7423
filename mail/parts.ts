import { deliver } from './delivery/deliver.ts';
import { cancelSubmission, submitEmail } from './delivery/email-submission.ts';
import { putOff, releaseWaiting, sendScheduled } from './delivery/schedule.ts';
import { submit } from './delivery/submit.ts';
import { sendVacationAnswer } from './delivery/vacation-answer.ts';
import { imapSearch } from './imap/search/query.ts';
import { emailResultChanges } from './jmap/query/email-result-changes.ts';
import { emailResults } from './jmap/query/email-results.ts';
import { newestWith } from './jmap/query/newest-with.ts';
import { emailSnippets } from './jmap/query/snippets.ts';
import { finishAttempts } from './relay/store-queue.ts';
import { addAccount, setQuota } from './store/account.ts';
import { attachAgentPolicy, removeAgentPolicy, saveAgentPolicy } from './store/agent-policy.ts';
import { markSeenByAgent } from './store/hand.ts';
import { addAlias, changeAlias, removeAlias } from './store/alias.ts';
import { undoAliases } from './store/alias-undo.ts';
import { undoAppPasswords } from './store/app-password-undo.ts';
import { addAppPassword, removeAppPassword, setPassword, stampCredentials } from './store/credential.ts';
import { expireApprovals, forgetApprovals } from './store/approval-chores.ts';
import { holdMore, holdRest } from './store/agent-hold.ts';
import { forgetAgentSends } from './store/agent-send.ts';
import { addBan, forgetBans, listBans, removeBan } from './store/ban.ts';
import { emptyGoneAccount } from './store/account-removal.ts';
import { forgetAgentChanges } from './store/agent-change.ts';
import { forgetSpent } from './store/budget.ts';
import { plantCanary, removeCanary, settleCanary } from './store/canary-commands.ts';
import { forgetExposures, noteExposed, noteExposures } from './store/exposure.ts';
import { forgetHandedOut, noteHandedOut } from './store/handed-out.ts';
import { forgetDeparted } from './store/departed.ts';
import { journalCounts } from './store/journal-count.ts';
import { findTraces, indexJournal } from './store/journal-index.ts';
import { linesBehind } from './store/journal-tail.ts';
import { claimConversation, endClaim, freeClaims } from './store/claim-commands.ts';
import { addDomain, verifyDomain } from './store/domain.ts';
import { addIdentity, alignIdentities, changeIdentity, removeIdentity } from './store/identity.ts';
import { changeEmails, destroyEmails } from './store/email-change-commands.ts';
import { copyEmail, placeEmail } from './store/email-commands.ts';
import type { ThreadParts } from './store/engine/thread.ts';
import { emailChanges } from './store/email-changes.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from './store/entry-commands.ts';
import { resumeSender } from './store/paused-sender.ts';
import { forgetSenderUse } from './store/sender-use.ts';
import { forgetSubmissions, removeSubmission, submissionFacts, submissionsOf } from './store/jmap-submission.ts';
import { dropLessons, noteKept } from './store/lesson.ts';
import { changeMailbox, destroyMailbox, plantMailbox } from './store/mailbox-tree.ts';
import { contactsOf } from './store/contact.ts';
import { ledTo } from './store/led-to.ts';
import { countLabels, forgetLabel, makeLabel } from './store/label.ts';
import { setMailPolicy } from './store/mail-policy.ts';
import { createMailbox, removeMailbox, renameMailbox, subscribeMailbox } from './store/mailbox.ts';
import { mailMigrations } from './store/migrations.ts';
import { forgetNotices, replayNotice, replayNotices, tellOfEmail, trimNotices } from './store/notice.ts';
import { removeOutboundRoute, setOutboundRoute } from './store/outbound-route.ts';
import { forgetGreylist, passGreylist } from './store/greylist.ts';
import { crowdedSenders, forgetSenders, trimSenders } from './store/sender.ts';
import { beginAttempts } from './store/queue.ts';
import { listQueue, queueDepth } from './store/queue-rows.ts';
import { steerQueue } from './store/queue-steering.ts';
import { addUpload, forgetUploads } from './store/jmap-upload.ts';
import { dropVacationJobs, forgetVacationAnswers, keepVacation } from './store/vacation.ts';
import { addPushSubscription, removePushSubscription, updatePushSubscription } from './store/push-subscription.ts';
import { forgetRejects } from './store/reject.ts';
import { addSenderRule, removeSenderRule, undoSenderRules } from './store/sender-rule.ts';
import { setSetting } from './store/setting.ts';
import { forgetStsPolicies, keepStsPolicy, putOffStsPolicy, useStsPolicy } from './store/sts-policy.ts';
import { forgetShown, noteShown } from './store/shown-secret.ts';
import { addSuppression, listSuppressions, removeSuppression } from './store/suppression.ts';
import { threadChanges, threadEmails } from './store/thread.ts';
import { keepThreadCounts, countThreads } from './store/thread-counts.ts';
import { emptyGoneMailbox, forgetExpunged, forgetHistory, forgetTombstones } from './store/tidy.ts';
import { forgetTlsResults } from './store/tls-result.ts';
import { sweepWords } from './store/word-sweep.ts';
import { askRelease, decideRelease, suspectsOf } from './store/withheld.ts';
import { undoAgentChanges } from './store/undo-commands.ts';
import { learn } from './store/words.ts';

/** Everything that the mail engine does in the store's threads. */
export function mailParts(): ThreadParts {
  return {
    commands: [
      addAccount,
      addAlias,
      addAppPassword,
      addBan,
      addDomain,
      addIdentity,
      addPushSubscription,
      addSenderRule,
      addSuppression,
      addUpload,
      alignIdentities,
      appendMessage,
      askRelease,
      attachAgentPolicy,
      beginAttempts,
      cancelSubmission,
      changeAlias,
      changeEmails,
      changeIdentity,
      changeMailbox,
      claimConversation,
      copyEmail,
      copyEntries,
      createMailbox,
      decideRelease,
      deliver,
      destroyEmails,
      destroyMailbox,
      dropLessons,
      dropVacationJobs,
      emptyGoneAccount,
      emptyGoneMailbox,
      endClaim,
      expunge,
      finishAttempts,
      forgetAgentChanges,
      expireApprovals,
      forgetApprovals,
      forgetAgentSends,
      holdMore,
      holdRest,
      forgetBans,
      forgetDeparted,
      forgetExposures,
      forgetExpunged,
      forgetGreylist,
      forgetHandedOut,
      forgetHistory,
      forgetLabel,
      forgetNotices,
      forgetRejects,
      forgetSenders,
      forgetShown,
      forgetSenderUse,
      forgetSpent,
      forgetStsPolicies,
      forgetSubmissions,
      forgetTlsResults,
      forgetTombstones,
      forgetUploads,
      forgetVacationAnswers,
      freeClaims,
      indexJournal,
      keepStsPolicy,
      keepThreadCounts,
      keepVacation,
      passGreylist,
      learn,
      makeLabel,
      noteExposed,
      noteExposures,
      noteHandedOut,
      noteShown,
      markSeenByAgent,
      noteKept,
      placeEmail,
      plantCanary,
      plantMailbox,
      putOff,
      putOffStsPolicy,
      releaseWaiting,
      removeAgentPolicy,
      removeAlias,
      removeAppPassword,
      removeBan,
      removeCanary,
      removeIdentity,
      removeMailbox,
      removeOutboundRoute,
      removePushSubscription,
      removeSenderRule,
      removeSubmission,
      removeSuppression,
      renameMailbox,
      replayNotice,
      replayNotices,
      sendScheduled,
      sendVacationAnswer,
      resumeSender,
      saveAgentPolicy,
      setMailPolicy,
      setOutboundRoute,
      setPassword,
      setQuota,
      setSetting,
      settleCanary,
      stampCredentials,
      steerQueue,
      storeFlags,
      submit,
      submitEmail,
      subscribeMailbox,
      sweepWords,
      tellOfEmail,
      trimNotices,
      trimSenders,
      undoAgentChanges,
      undoAliases,
      undoAppPasswords,
      undoSenderRules,
      updatePushSubscription,
      useStsPolicy,
      verifyDomain,
    ],
    queries: [
      contactsOf,
      countLabels,
      ledTo,
      countThreads,
      crowdedSenders,
      emailChanges,
      emailResultChanges,
      emailResults,
      emailSnippets,
      findTraces,
      journalCounts,
      linesBehind,
      imapSearch,
      listBans,
      listQueue,
      listSuppressions,
      newestWith,
      queueDepth,
      submissionFacts,
      submissionsOf,
      suspectsOf,
      threadChanges,
      threadEmails,
    ],
    migrations: mailMigrations(),
  };
}
