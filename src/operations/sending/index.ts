import type { Operation } from '../operation.ts';
import { listSuppressionsOf, releaseAddress, suppressAddress } from './suppressions.ts';
import { listWebhookDeliveries, replayWebhookDelivery, testInboundWebhook } from './webhook-deliveries.ts';
import { createApiKey, listKeys, revokeKey } from './api-keys.ts';
import { listEmailForwarders, removeEmailForwarder, setEmailForwarder } from './forwarders.ts';
import { listOutbox, withdrawOutboxItem } from './outbox.ts';
import { cancelScheduledEmail, sendOneEmail, sendTestEmail } from './send.ts';
import {
  createEmailTemplate,
  deleteEmailTemplate,
  getEmailTemplate,
  listEmailTemplates,
  updateEmailTemplate,
} from './templates.ts';
import { getInboundWebhook, removeInboundWebhook, setInboundWebhook } from './webhooks.ts';

export const SENDING: readonly Operation[] = [
  createApiKey,
  listKeys,
  revokeKey,
  setInboundWebhook,
  getInboundWebhook,
  removeInboundWebhook,
  setEmailForwarder,
  listEmailForwarders,
  removeEmailForwarder,
  testInboundWebhook,
  listWebhookDeliveries,
  replayWebhookDelivery,
  listSuppressionsOf,
  suppressAddress,
  releaseAddress,
  sendOneEmail,
  sendTestEmail,
  cancelScheduledEmail,
  listOutbox,
  withdrawOutboxItem,
  createEmailTemplate,
  updateEmailTemplate,
  listEmailTemplates,
  getEmailTemplate,
  deleteEmailTemplate,
];
