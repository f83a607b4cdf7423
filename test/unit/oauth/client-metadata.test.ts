import { describe, expect, test } from 'vitest';
import { readMetadata } from '../../../src/oauth/client-document.ts';

const URIS = ['https://app.example.com/cb'];

describe('metadata', () => {
  test('is read for what matters here', () => {
    const read = readMetadata({
      client_name: 'Agent',
      redirect_uris: URIS,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      logo_uri: 'https://app.example.com/logo.png',
    });
    expect(read).toEqual({ name: 'Agent', redirectUris: URIS });
  });

  test.each([
    [undefined, 'invalid_client_metadata'],
    [[], 'invalid_client_metadata'],
    ['text', 'invalid_client_metadata'],
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: 'https://app.example.com/cb' }, 'invalid_redirect_uri'],
    [{ redirect_uris: [7] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [...URIS, 'javascript:x'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array.from({ length: 21 }, () => URIS[0]) }, 'invalid_redirect_uri'],
    [{ redirect_uris: URIS, grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ redirect_uris: URIS, response_types: ['token'] }, 'invalid_client_metadata'],
    [{ redirect_uris: URIS, grant_types: 'authorization_code' }, 'invalid_client_metadata'],
  ])('%j is %s', (value, error) => {
    expect(readMetadata(value)).toMatchObject({ error });
  });

  test.each([
    [undefined, 'Unnamed program'],
    ['  \u200b\u2060 ', 'Unnamed program'],
    [7, 'Unnamed program'],
    ['Claude\u202e\u2066\u200d\u{e0041}!', 'Claude !'],
    ['two\r\nlines\tand\u2028more', 'two lines and more'],
    ['x'.repeat(1000), 'x'.repeat(60)],
    ['\ud800', '\ufffd'],
    ['<b>Bold</b> & "so"', '<b>Bold</b> & "so"'],
  ])('the name %j is shown as %j', (given, name) => {
    expect(readMetadata({ redirect_uris: URIS, client_name: given })).toMatchObject({ name });
  });
});
