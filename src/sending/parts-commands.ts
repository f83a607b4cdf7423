import type { Command } from '../../mail/store/engine/types.ts';
import { endWebhookAttempt } from '../webhooks/commands.ts';
import { removeForwarder, setForwarder } from './forwarder-commands.ts';
import { addApiKey, revokeApiKey } from './key-commands.ts';
import { cancelSent, moveSent, sendEmail, withdrawWaiting } from './sent-commands.ts';
import { createTemplate, deleteTemplate, updateTemplate } from './template-commands.ts';
import { addUpload } from './upload-commands.ts';
import { removeWebhook, setWebhook } from './webhook-commands.ts';

/** What this area writes. */
export const SENDING: readonly Command<never, unknown>[] = [
  addApiKey,
  addUpload,
  cancelSent,
  createTemplate,
  deleteTemplate,
  endWebhookAttempt,
  moveSent,
  removeForwarder,
  removeWebhook,
  revokeApiKey,
  sendEmail,
  setForwarder,
  setWebhook,
  updateTemplate,
  withdrawWaiting,
];
