import { ACTIONS } from '../core/token.ts';

/** `/.well-known/oauth-authorization-server`. RFC 8414 2; `agent_auth` as in auth.md. */
export function authorizationServer(baseUrl: string, open: boolean): object {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    scopes_supported: [...ACTIONS],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${baseUrl}/auth.md`,
    agent_auth: {
      skill: `${baseUrl}/auth.md`,
      ...(open && {
        register_uri: `${baseUrl}/api/tools/create_own_organization`,
        claim_uri: `${baseUrl}/api/tools/create_account_and_claim_link`,
        identity_types_supported: ['anonymous'],
        anonymous: { credential_types_supported: ['bearer_token'] },
      }),
      revocation_uri: `${baseUrl}/api/tools/revoke_agent_token`,
    },
  };
}

/** True if a `resource` parameter names this server or its MCP endpoint, ignoring the query. RFC 8707 2. */
export function isOwnResource(baseUrl: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const url = new URL(resource);
  url.search = '';
  return [baseUrl, `${baseUrl}/`, `${baseUrl}/mcp`, `${baseUrl}/mcp/`].some((own) => new URL(own).href === url.href);
}
