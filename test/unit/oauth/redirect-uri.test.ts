import { describe, expect, test } from 'vitest';
import {
  redirectLocation,
  formSource,
  isRegistered,
  describeRedirect,
  redirectProblem,
} from '../../../src/oauth/redirect-uri.ts';

test.each([
  'https://claude.ai/api/mcp/auth_callback',
  'https://app.example.com:8443/cb?x=1',
  'http://127.0.0.1:33418/callback',
  'http://127.0.0.1/',
  'http://[::1]:9/cb',
  'http://localhost:3000/cb',
  'com.example.app:/callback',
  'com.example.app://callback',
])('%s is taken', (uri) => {
  expect(redirectProblem(uri)).toBeUndefined();
});

test.each([
  ['http://app.example.com/cb', 'uses http: only https is allowed except on loopback'],
  ['http://10.0.0.1/cb', 'uses http: only https is allowed except on loopback'],
  ['http://localhost.example.com/cb', 'uses http: only https is allowed except on loopback'],
  ['https://app.example.com/cb#x', 'has a fragment'],
  ['https://app.example.com/cb#', 'has a fragment'],
  ['https://me@app.example.com/cb', 'has a user name'],
  ['https://claude.ai:x@evil.example/cb', 'has a user name'],
  ['https://app.example.com\\@evil.example/', 'has characters that a URI cannot have, or is too long'],
  ['https://app.example.com/a b', 'has characters that a URI cannot have, or is too long'],
  ['https://app.example.com/\r\nx: y', 'has characters that a URI cannot have, or is too long'],
  ['https://app.example.com/"><script>', 'has characters that a URI cannot have, or is too long'],
  ['https://аpp.example.com/', 'has characters that a URI cannot have, or is too long'],
  [`https://app.example.com/${'x'.repeat(500)}`, 'has characters that a URI cannot have, or is too long'],
  ['https://a;sandbox/', 'has an invalid host'],
  ['https://a,b.example/', 'has an invalid host'],
  ["https://'self'/", 'has an invalid host'],
  ['https://*/', 'has an invalid host'],
  ['cursor://a;b/', 'has an invalid host'],
  ['javascript:alert(1)', 'has a scheme that is no reversed domain name'],
  ['javascript://x/%0aalert(1)', 'has a scheme that is no reversed domain name'],
  ['data:text/html,x', 'has a scheme that is no reversed domain name'],
  ['file:///etc/passwd', 'has a scheme that is no reversed domain name'],
  ['vbscript://x/', 'has a scheme that is no reversed domain name'],
  ['view-source://x/', 'has a scheme that is no reversed domain name'],
  ['mailto:a@b.test', 'has a scheme that is no reversed domain name'],
  ['ms-msdt:/id PCWDiagnostic', 'has characters that a URI cannot have, or is too long'],
  ['ms-msdt://callback', 'has a scheme that is no reversed domain name'],
  ['search-ms://callback', 'has a scheme that is no reversed domain name'],
  ['cursor://callback', 'has a scheme that is no reversed domain name'],
  ['cursor:callback', 'has a scheme that is no reversed domain name'],
  ['/callback', 'is not a URI'],
  ['JavaScript:alert(1)', 'is not a URI'],
  ['', 'has characters that a URI cannot have, or is too long'],
])('%j is not', (uri, problem) => {
  expect(redirectProblem(uri)).toBe(problem);
});

describe('what was named before is met', () => {
  test.each([
    ['https://app.example.com/cb', 'https://app.example.com/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:4711/cb'],
    ['http://127.0.0.1:1/cb?a=b', 'http://127.0.0.1:2/cb?a=b'],
    ['http://[::1]/cb', 'http://[::1]:4711/cb'],
    ['http://localhost:3000', 'http://localhost:4000'],
  ])('by %s: %s', (named, given) => {
    expect(isRegistered(['https://other.example/', named], given)).toBe(true);
  });

  test.each([
    ['https://app.example.com/cb', 'https://app.example.com/cb/'],
    ['https://app.example.com/cb', 'https://app.example.com/cb?x=1'],
    ['https://app.example.com/cb', 'https://app.example.com/cb/../evil'],
    ['https://app.example.com/cb', 'https://app.example.com:8443/cb'],
    ['https://app.example.com/cb', 'https://APP.example.com/cb'],
    ['https://app.example.com/cb', 'https://app.example.com.evil.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1/evil'],
    ['http://127.0.0.1/cb', 'http://localhost/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:80.evil.example/cb'],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:80@evil.example/cb'],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb'],
    ['cursor://a/b', 'cursor://a/c'],
  ])('but not by %s: %s', (named, given) => {
    expect(isRegistered([named], given)).toBe(false);
  });
});

test('people are informed where they end up, and browsers what the form may lead to', () => {
  const told = (uri: string): string[] => [describeRedirect(uri), formSource(uri)];
  expect(told('https://claude.ai/cb')).toEqual(['claude.ai', 'https://claude.ai']);
  expect(told('http://127.0.0.1:99/cb')).toEqual(['a program on your computer (127.0.0.1:99)', 'http://127.0.0.1:99']);
  expect(told('http://[::1]:99/cb')).toEqual(['a program on your computer ([::1]:99)', 'http:']);
  expect(told('cursor://a/b')).toEqual(['the program that opens cursor:', 'cursor:']);
});

test('an answer keeps what was there, and escapes what it brings', () => {
  expect(redirectLocation('https://a.test/cb', { code: 'x', state: undefined })).toBe('https://a.test/cb?code=x');
  expect(redirectLocation('https://a.test/cb?q=1', { state: 'a&code=b\r\n#' })).toBe(
    'https://a.test/cb?q=1&state=a%26code%3Db%0D%0A%23',
  );
});
