import type { Operation } from '../../core/operation.ts';
import { listSuppressionsOf, releaseAddress, suppressAddress } from './suppressions.ts';
import {
  createWebhook,
  listOrganizationWebhooks,
  removeOrganizationWebhook,
  updateWebhook,
} from './organization-webhooks.ts';
import { listDeadWebhookDeliveries, listWebhookDeliveries } from './webhook-deliveries.ts';
import { replayWebhookDeliveries, replayWebhookDelivery, testInboundWebhook, testWebhook } from './webhook-replay.ts';
import { createApiKey, listKeys, revokeKey } from './api-keys.ts';
import { setForwardingPolicy, getMailPolicy, updateMailPolicy } from './mail-policy.ts';
import { listEmailForwarders, removeEmailForwarder, setEmailForwarder } from './forwarders.ts';
import { getOutboxItem, listOutbox, withdrawOutboxItem } from './outbox.ts';
import { listPausedSenders, resumePausedSender } from './paused-senders.ts';
import { cancelScheduledEmail, sendOneEmail, sendTestEmail } from './send.ts';
import {
  createEmailTemplate,
  deleteEmailTemplate,
  getEmailTemplate,
  listEmailTemplates,
  updateEmailTemplate,
} from './templates.ts';
import { enableWebhook, getInboundWebhook, removeInboundWebhook, setInboundWebhook } from './webhooks.ts';

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
  setForwardingPolicy,
  getMailPolicy,
  updateMailPolicy,
  testInboundWebhook,
  listWebhookDeliveries,
  listDeadWebhookDeliveries,
  replayWebhookDelivery,
  replayWebhookDeliveries,
  enableWebhook,
  createWebhook,
  listOrganizationWebhooks,
  updateWebhook,
  removeOrganizationWebhook,
  testWebhook,
  listSuppressionsOf,
  suppressAddress,
  releaseAddress,
  sendOneEmail,
  sendTestEmail,
  cancelScheduledEmail,
  listOutbox,
  getOutboxItem,
  withdrawOutboxItem,
  listPausedSenders,
  resumePausedSender,
  createEmailTemplate,
  updateEmailTemplate,
  listEmailTemplates,
  getEmailTemplate,
  deleteEmailTemplate,
];
