import type { Operation } from '../../core/operation.ts';
import { getDeliverability } from './deliverability.ts';
import { getDmarcReport } from './dmarc-report.ts';
import { getDeliverabilityReport } from './report.ts';
import { runDeliveryTest } from './test.ts';
import { getTlsReport } from './tls-report.ts';

export const DELIVERABILITY: readonly Operation[] = [
  getDeliverabilityReport,
  runDeliveryTest,
  getDeliverability,
  getDmarcReport,
  getTlsReport,
];
