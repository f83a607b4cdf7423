import type { Command } from '../../mail/store/engine/types.ts';
import { endWebhookAttempts, forgetWebhookAttempts } from '../webhooks/commands.ts';
import { confirmForward, setForwardPolicy } from './confirmation-commands.ts';
import { discardDraft, saveDraft } from './draft-commands.ts';
import { removeForwarder, setForwarder, undoForwarders } from './forwarder-commands.ts';
import { releaseHeld, steerUnfrozen } from './held-commands.ts';
import { addApiKey, revokeApiKey, undoApiKeys } from './key-commands.ts';
import { releaseResumed, resumeUnfrozen, tellPause } from './pause-commands.ts';
import { cancelSent, moveSent, sendEmail, withdrawWaiting } from './sent-commands.ts';
import { createTemplate, deleteTemplate, updateTemplate } from './template-commands.ts';
import { undoTemplates } from './template-undo-commands.ts';
import { addUpload, forgetUploads } from './upload-commands.ts';
import { addWebhook, changeWebhook, dropWebhook, removeWebhook, setWebhook, testWebhook } from './webhook-commands.ts';
import { undoWebhooks } from './webhook-undo-commands.ts';

/** What this area writes. */
export const SENDING: readonly Command<never, unknown>[] = [
  addApiKey,
  addUpload,
  addWebhook,
  cancelSent,
  changeWebhook,
  confirmForward,
  createTemplate,
  deleteTemplate,
  discardDraft,
  dropWebhook,
  endWebhookAttempts,
  forgetUploads,
  forgetWebhookAttempts,
  moveSent,
  releaseHeld,
  releaseResumed,
  removeForwarder,
  removeWebhook,
  resumeUnfrozen,
  revokeApiKey,
  saveDraft,
  sendEmail,
  setForwardPolicy,
  setForwarder,
  setWebhook,
  steerUnfrozen,
  tellPause,
  testWebhook,
  undoApiKeys,
  undoForwarders,
  undoTemplates,
  undoWebhooks,
  updateTemplate,
  withdrawWaiting,
];
