import type { Command } from '../../mail/store/engine/types.ts';
import { endWebhookAttempt } from '../webhooks/commands.ts';
import { confirmForward, setForwardPolicy } from './confirmation-commands.ts';
import { removeForwarder, setForwarder } from './forwarder-commands.ts';
import { addApiKey, revokeApiKey } from './key-commands.ts';
import { cancelSent, sendEmail } from './sent-commands.ts';
import { removeWebhook, setWebhook } from './webhook-commands.ts';

/** What this area writes. */
export const SENDING: readonly Command<never, unknown>[] = [
  addApiKey,
  cancelSent,
  confirmForward,
  endWebhookAttempt,
  removeForwarder,
  removeWebhook,
  revokeApiKey,
  sendEmail,
  setForwardPolicy,
  setForwarder,
  setWebhook,
];
