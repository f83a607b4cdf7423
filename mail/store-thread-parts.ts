import { writeHooks } from './agents/hooks.ts';
import { deliver } from './delivery/deliver.ts';
import { cancelSubmission, submitEmail } from './delivery/jmap-submission-commit.ts';
import { deferScheduled, releaseWaiting, sendScheduled } from './delivery/scheduled-messages.ts';
import { submit } from './delivery/submission-commit.ts';
import { sendVacationAnswer } from './delivery/vacation-answer.ts';
import { imapSearch } from './imap/search/reader-search.ts';
import { imapRelevant } from './imap/search/relevant.ts';
import { recordScrub } from './jobs/scrub.ts';
import { newestFiles } from './jobs/storage-check.ts';
import { emailResultChanges } from './jmap/email-query/email-result-changes.ts';
import { emailResults } from './jmap/email-query/email-results.ts';
import { newestMatch } from './jmap/email-query/text-matcher.ts';
import { emailSnippets } from './jmap/email-query/email-snippets.ts';
import { finishAttempts } from './relay/store-queue.ts';
import { addAccount, setQuota } from './store/account/account.ts';
import { attachAgentPolicy, removeAgentPolicy, saveAgentPolicy } from './agents/policy/policies.ts';
import { markSeenByAgent } from './store/actor.ts';
import { addAlias, changeAlias, removeAlias } from './store/address/alias.ts';
import { undoAliases } from './agents/undo/alias-undo.ts';
import { undoAppPasswords } from './agents/undo/rule-undo.ts';
import { addAppPassword, removeAppPassword, setPassword, stampCredentials } from './store/account/credential.ts';
import { expireApprovals, purgeApprovals } from './agents/approval/approval.ts';
import { refusedMove } from './agents/approval/moves.ts';
import { holdMore, continueHolds } from './agents/freeze/hold.ts';
import { purgeAgentSends } from './agents/gate/send-log.ts';
import { addBan, purgeBans, removeBan } from './store/limit/ban.ts';
import { purgeRemovedAccount } from './store/account/account-removal.ts';
import { purgeAgentChanges } from './agents/undo/email-changes.ts';
import { purgeBudgetUse } from './store/limit/budget.ts';
import { plantCanary, removeCanary, settleCanary } from './agents/canary/commands.ts';
import { markWordsOfWriter } from './agents/taint/content.ts';
import { purgeTaints, markTainted, recordTaints } from './agents/taint/taint.ts';
import { purgeDownloads, recordDownloads } from './agents/taint/downloads.ts';
import { purgeSentCopies } from './store/queue/sent-copies.ts';
import { journalCounts } from './store/journal/journal-count.ts';
import { findTraces, indexJournal } from './store/journal/journal-index.ts';
import { journalLinesAfter } from './store/journal/journal-tail.ts';
import { claimConversation, endClaim, freeClaims } from './agents/claims/commands.ts';
import { returnSnoozed, snoozeEmails } from './store/message/snooze.ts';
import { addDomain, verifyDomain } from './store/address/domain.ts';
import { addIdentity, alignIdentities, changeIdentity, removeIdentity } from './store/submission/identity.ts';
import { changeEmails, destroyEmails } from './store/message/email-change-commands.ts';
import { copyEmail, storeEmail } from './store/message/email-commands.ts';
import type { ThreadParts } from './store/engine/thread.ts';
import { emailChanges } from './store/message/email-changes.ts';
import { appendMessages } from './store/mailbox/append-commands.ts';
import { applyRangeFlags, logRangeFlags } from './store/mailbox/flag-log.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from './store/mailbox/entry-commands.ts';
import { resumeSender } from './store/limit/paused-sender.ts';
import { purgeSenderUse } from './store/limit/sender-use.ts';
import {
  purgeSubmissions,
  removeSubmission,
  submissionFacts,
  submissionsOf,
} from './store/submission/jmap-submission.ts';
import { deleteTrainingSamples, recordKeptMail } from './store/filter/training-sample.ts';
import { changeMailbox, destroyMailbox, addChildMailbox } from './store/mailbox/mailbox-tree.ts';
import { contactsOf } from './store/address/contact.ts';
import { aliasTargets } from './store/address/alias-targets.ts';
import { countLabels, removeLabel, addLabel } from './store/mailbox/label.ts';
import { setMailPolicy } from './store/filter/mail-policy.ts';
import { grantByLogin, grantMailbox, subscribeShared } from './store/mailbox/acl.ts';
import { copyBetween, removeCopied } from './store/mailbox/copy-between.ts';
import { changeSharedEmails, copySharedEmail, destroySharedEmails } from './store/message/shared-email-commands.ts';
import {
  countSharedEmails,
  sharedEmailChanges,
  sharedThreadChanges,
  sharedThreadEmails,
} from './store/message/shared-emails.ts';
import { annotate } from './store/mailbox/annotation.ts';
import { dropFormerSubscription } from './store/mailbox/former-subscription.ts';
import { keepRecent } from './store/mailbox/recent.ts';
import { setHiddenCapabilities } from './store/account/imap-setting.ts';
import {
  createMailbox,
  deletedOctets,
  removeMailbox,
  renameMailbox,
  subscribeMailbox,
} from './store/mailbox/mailbox.ts';
import { mailMigrations } from './store/migrations.ts';
import {
  purgeWebhookEvents,
  replayWebhookEvent,
  replayWebhookEvents,
  queueEmailEvent,
  trimWebhookEvents,
} from './store/notification/webhook-event.ts';
import { removeOutboundRoute, setOutboundRoute } from './store/queue/outbound-route.ts';
import { purgeGreylist, passGreylist } from './store/limit/greylist.ts';
import { accountsOverSenderLimit, purgeSenders, trimSenders } from './store/filter/sender.ts';
import { resumeInterrupted } from './store/queue/interrupted.ts';
import { beginAttempts } from './store/queue/queue.ts';
import { readRamp, saveRamp } from './store/queue/sending-ramp.ts';
import { listQueue, queueDepth } from './store/queue/queue-rows.ts';
import { changeQueue } from './store/queue/queue-change.ts';
import { addJmapUpload, purgeJmapUploads } from './store/blob/jmap-upload.ts';
import { dropVacationJobs, purgeVacationReplies, storeVacation } from './store/submission/vacation.ts';
import {
  addPushSubscription,
  removePushSubscription,
  updatePushSubscription,
} from './store/notification/push-subscription.ts';
import { purgeRejects } from './store/filter/reject.ts';
import { addSenderRule, removeSenderRule } from './store/filter/sender-rule.ts';
import { undoSenderRules } from './agents/undo/rule-undo.ts';
import { recognizeDatabase } from './store/account/restored-database.ts';
import { changeSetting, setSetting } from './store/setting.ts';
import { purgeStsPolicies, storeStsPolicy, deferStsPolicy, touchStsPolicy } from './store/queue/sts-policy.ts';
import { purgeShownSecrets, recordShownSecrets } from './agents/secrets/shown-secret.ts';
import { addSuppression, listSuppressions, removeSuppression } from './store/queue/suppression.ts';
import { threadChanges, threadEmails } from './store/message/thread.ts';
import { storeThreadCounts, countThreads } from './store/message/thread-counts.ts';
import { purgeDeletedFolder, purgeExpunged, purgeHistory, purgeTombstones } from './store/retention/purge.ts';
import { addDmarcResults, purgeDmarcResults } from './store/filter/dmarc-result.ts';
import { purgeSentReports } from './store/queue/sent-report.ts';
import { purgePeers } from './store/queue/delivery-peer.ts';
import { purgeTlsResults } from './store/queue/tls-result.ts';
import { sweepWords } from './store/filter/word-sweep.ts';
import { requestRelease, decideRelease, quarantineCandidates } from './agents/quarantine/release.ts';
import { undoAgentChanges } from './agents/undo/email-undo.ts';
import { trainSample } from './store/filter/words.ts';
import {
  expireDeletedMessages,
  deletedSince,
  listDeletedMessages,
  restoreDeletedMessages,
} from './store/retention/deleted-mail.ts';
import { agingMailboxes, deleteAged, ruledMailboxes, setLegalHold, setRetention } from './store/retention/rules.ts';
import { importMessages } from './store/transfer/imported.ts';
import { addImportJob, endImportJob, expireUploads, updateImportJob } from './store/transfer/import-job.ts';
import { dropRemoteMessages, openRemoteFolder, recordRemoteFlags } from './store/transfer/remote-folder.ts';

/** Everything that the mail engine does in the store's threads. */
// oxlint-disable-next-line max-lines-per-function -- It is a table: one command or query a line.
export function mailParts(): ThreadParts {
  return {
    commands: [
      addAccount,
      addAlias,
      addAppPassword,
      addBan,
      addDomain,
      addIdentity,
      addImportJob,
      endImportJob,
      expireUploads,
      updateImportJob,
      importMessages,
      expireDeletedMessages,
      restoreDeletedMessages,
      deleteAged,
      setLegalHold,
      setRetention,
      openRemoteFolder,
      recordRemoteFlags,
      dropRemoteMessages,
      addPushSubscription,
      addSenderRule,
      addSuppression,
      addJmapUpload,
      alignIdentities,
      annotate,
      dropFormerSubscription,
      keepRecent,
      appendMessage,
      applyRangeFlags,
      logRangeFlags,
      recordScrub,
      appendMessages,
      requestRelease,
      attachAgentPolicy,
      beginAttempts,
      resumeInterrupted,
      cancelSubmission,
      changeAlias,
      changeEmails,
      changeIdentity,
      changeMailbox,
      claimConversation,
      copyBetween,
      removeCopied,
      changeSharedEmails,
      copySharedEmail,
      destroySharedEmails,
      copyEmail,
      copyEntries,
      createMailbox,
      decideRelease,
      deliver,
      destroyEmails,
      destroyMailbox,
      deleteTrainingSamples,
      dropVacationJobs,
      purgeRemovedAccount,
      purgeDeletedFolder,
      endClaim,
      expunge,
      finishAttempts,
      saveRamp,
      grantByLogin,
      grantMailbox,
      purgeAgentChanges,
      expireApprovals,
      purgeApprovals,
      purgeAgentSends,
      holdMore,
      continueHolds,
      purgeBans,
      purgeSentCopies,
      purgeTaints,
      purgeExpunged,
      purgeGreylist,
      purgeDownloads,
      purgeHistory,
      removeLabel,
      purgeWebhookEvents,
      purgeRejects,
      purgeSenders,
      purgeShownSecrets,
      purgeSenderUse,
      purgeBudgetUse,
      purgeStsPolicies,
      purgeSubmissions,
      addDmarcResults,
      purgeDmarcResults,
      purgeSentReports,
      purgePeers,
      purgeTlsResults,
      purgeTombstones,
      purgeJmapUploads,
      purgeVacationReplies,
      freeClaims,
      snoozeEmails,
      returnSnoozed,
      indexJournal,
      storeStsPolicy,
      storeThreadCounts,
      storeVacation,
      passGreylist,
      trainSample,
      addLabel,
      markTainted,
      markWordsOfWriter,
      recordTaints,
      recordDownloads,
      recordShownSecrets,
      markSeenByAgent,
      recordKeptMail,
      storeEmail,
      plantCanary,
      addChildMailbox,
      deferScheduled,
      deferStsPolicy,
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
      replayWebhookEvent,
      replayWebhookEvents,
      sendScheduled,
      sendVacationAnswer,
      resumeSender,
      saveAgentPolicy,
      setHiddenCapabilities,
      setMailPolicy,
      setOutboundRoute,
      setPassword,
      setQuota,
      changeSetting,
      setSetting,
      recognizeDatabase,
      settleCanary,
      stampCredentials,
      changeQueue,
      storeFlags,
      submit,
      submitEmail,
      subscribeMailbox,
      subscribeShared,
      sweepWords,
      queueEmailEvent,
      trimWebhookEvents,
      trimSenders,
      undoAgentChanges,
      undoAliases,
      undoAppPasswords,
      undoSenderRules,
      updatePushSubscription,
      touchStsPolicy,
      verifyDomain,
    ],
    queries: [
      deletedSince,
      agingMailboxes,
      ruledMailboxes,
      listDeletedMessages,
      contactsOf,
      countLabels,
      aliasTargets,
      countThreads,
      deletedOctets,
      accountsOverSenderLimit,
      countSharedEmails,
      sharedEmailChanges,
      sharedThreadChanges,
      sharedThreadEmails,
      emailChanges,
      emailResultChanges,
      emailResults,
      emailSnippets,
      findTraces,
      journalCounts,
      journalLinesAfter,
      imapSearch,
      imapRelevant,
      newestFiles,
      listQueue,
      listSuppressions,
      newestMatch,
      refusedMove,
      queueDepth,
      readRamp,
      submissionFacts,
      submissionsOf,
      quarantineCandidates,
      threadChanges,
      threadEmails,
    ],
    migrations: mailMigrations(),
    hooks: writeHooks,
  };
}
