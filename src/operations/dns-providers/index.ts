import type { Operation } from '../../core/operation.ts';
import {
  connectDnsProvider,
  disconnectDnsProvider,
  getDnsProvider,
  previewDnsChanges,
  publishDnsRecords,
} from './provider.ts';

export const DNS_PROVIDER_OPERATIONS: readonly Operation[] = [
  getDnsProvider,
  connectDnsProvider,
  previewDnsChanges,
  publishDnsRecords,
  disconnectDnsProvider,
];
