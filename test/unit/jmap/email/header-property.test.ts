import { describe, expect, test } from 'vitest';
import { readHeaderProperty } from '../../../../mail/jmap/email/email-selection.ts';

describe('a header property', () => {
  test.each([
    ['header:Subject', 'subject', 'Raw', false],
    ['header:SUBJECT:asText', 'subject', 'Text', false],
    ['header:subject:asRaw:all', 'subject', 'Raw', true],
    ['header:Resent-To:asAddresses:all', 'resent-to', 'Addresses', true],
    ['header:From:asGroupedAddresses', 'from', 'GroupedAddresses', false],
    ['header:References:asMessageIds', 'references', 'MessageIds', false],
    ['header:Resent-Date:asDate', 'resent-date', 'Date', false],
    ['header:List-POST:asURLs', 'list-post', 'URLs', false],
    ['header:List-Id:asText', 'list-id', 'Text', false],
    ['header:X-Any:asDate', 'x-any', 'Date', false],
    ['header:constructor:asURLs', 'constructor', 'URLs', false],
    ['header:!~:all', '!~', 'Raw', true],
  ])('%s', (property, field, form, all) => {
    expect(readHeaderProperty(property)).toEqual({ property, field, form, all });
  });

  test.each([
    'header:',
    'header:a b',
    'header:ä',
    'header:Subject:',
    'header:Subject:all:asText',
    'header:Subject:text',
    'header:Subject:astext',
    'header:Subject:asText:ALL',
    'header:Subject:asText:asRaw',
    'header:Subject:asNothing',
    'header:Subject:asAddresses',
    'header:From:asText',
    'header:Received:asText',
    'header:Return-Path:asAddresses',
    'header:Date:asText',
    'header:Message-ID:asText',
    'header:List-Unsubscribe:asText',
  ])('%s is none', (property) => {
    expect(readHeaderProperty(property)).toEqual(expect.any(String));
  });
});
