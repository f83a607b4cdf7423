import type { Operation } from '../../core/operation.ts';
import { getDeliverabilityReport } from './report.ts';
import { runDeliveryTest } from './test.ts';

export const DELIVERABILITY: readonly Operation[] = [getDeliverabilityReport, runDeliveryTest];
