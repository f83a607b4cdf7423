import type { Operation } from '../operation.ts';
import { listSuppressionsOf, releaseAddress, suppressAddress } from './suppressions.ts';
import { listWebhookDeliveries, replayWebhookDelivery, testInboundWebhook } from './webhook-deliveries.ts';
import { createApiKey, listKeys, revokeKey } from './api-keys.ts';
import { setForwardingPolicy } from './forwarding-policy.ts';
import { listEmailForwarders, removeEmailForwarder, setEmailForwarder } from './forwarders.ts';
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
  setForwardingPolicy,
  testInboundWebhook,
  listWebhookDeliveries,
  replayWebhookDelivery,
  listSuppressionsOf,
  suppressAddress,
  releaseAddress,
];
