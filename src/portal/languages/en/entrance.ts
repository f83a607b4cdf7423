/** Messages about signing in, and pages behind links in emails. */
export const entrance = {
  'sign-in.title': 'Sign in',
  'sign-in.done-password': 'Password changed. Sign in with it.',
  'sign-in.done-out': 'You are signed out.',
  'sign-in.done-step': 'The sign-in has expired, or too many codes were wrong. Start again.',
  'sign-in.forgot': 'Forgot your password?',
  'sign-in.no-account': 'No account? Ask your administrator for an invitation, or open a claim link.',
  'sign-in.wrong': 'Wrong address or password.',
  'sign-in.link': 'This link signs in this browser once.',
  'sign-in.not': 'Not signed in',

  'step.title': 'Second step',
  'step.as': 'Signing in as {address}.',
  'step.code': 'Code',
  'step.code-hint': '6 digits from your authenticator app, or a recovery code.',
  'step.fresh-hint':
    'From your authenticator app, or a recovery code. A sign-in with a passkey in the last 15 minutes replaces it.',
  'step.wrong-code': 'Wrong code, or it was used before. Wait for the next one.',
  'step.passkey': 'Use a passkey',
  'step.lost':
    'Lost your device? Use a recovery code. Without one, ask the operator of {host} to reset your second factor.',
  'step.other-account': 'Sign in as somebody else',

  'provider.sign-in': 'Sign in with {provider}',
  'provider.unreachable': '{provider} cannot be reached now. Try again, or use your password.',
  'provider.expired':
    'The sign-in was not begun in this browser, was used, or took longer than 10 minutes. Start again.',
  'provider.denied': '{provider} did not sign you in ({why}).',
  'provider.bad-answer':
    'The answer of {provider} was not accepted; the reason was logged. Start again, or use your password.',
  'provider.unknown':
    'Nobody here has your address, or the provider has not verified it. Ask your administrator for an invitation.',
  'provider.unverified':
    'Your address is not verified here. Sign in with your password once, and send a verification link from Your account.',
  'provider.other-subject':
    'Your address is linked to another account of the provider. Sign in with your password, and unlink it under Sign-in security.',

  'passkey.sign-in': 'Sign in with a passkey',
  'passkey.browser-asks': 'Your browser asks for the passkey that you registered on this site.',
  'passkey.use': 'Use passkey',
  'passkey.password-instead': 'Sign in with your password',
  'passkey.browser-failed': 'The browser used no passkey ({why}). Try again, or sign in another way.',
  'passkey.needs-scripts': 'Passkeys need JavaScript in this browser.',
  'passkey.needs-name': 'Passkeys need a host name',
  'passkey.no-name':
    'Browsers keep passkeys for host names, and this page was opened by an IP address. Open it by its name.',
  'passkey.refused': 'The passkey is not known here, was removed, or the page was open for too long. Start again.',

  'reset.title': 'Reset password',
  'reset.about': 'Enter the address that you sign in with. You receive a link to set a new password.',
  'reset.send': 'Send reset link',
  'reset.back': 'Back to sign-in',
  'reset.sent': 'Check your email',
  'reset.sent-text': 'If an account with this verified address exists, a reset link was sent. It expires in 1 hour.',
  'reset.signs-out': 'This signs you out everywhere else.',

  'invite.title': 'Join {organization}',
  'invite.as-owner': 'You are invited to the organization {organization} on {host}, as an owner.',
  'invite.as-admin': 'You are invited to the organization {organization} on {host}, as an administrator.',
  'invite.as-member':
    'You are invited to the organization {organization} on {host}, as a member with your own mailboxes.',
  'invite.join': 'Join organization',
  'invite.name': 'Your name',
  'invite.bad-name': {
    one: 'Use one line of at most {count} character.',
    other: 'Use one line of at most {count} characters.',
  },

  'claim.title': 'Claim {organization}',
  'claim.submit': 'Claim organization',
  'claim.verify-title': 'Verify your address',
  'claim.verify': 'Verify address',
  'claim.afterwards': 'You then see its audit log and can revoke the access of its creator. Nothing is charged.',
  'claim.already':
    'The organization is already claimed. This link verifies that you receive mail at {address}: you can then reset your password by email.',
  'claim.operator': 'This organization operates the mail server {host}. Claiming it makes you the operator.',
  'claim.created': 'This organization was created on {host}, perhaps by your agent, with {address} as its owner.',
  'claim.signed-in-as': 'You are signed in as {address}.',
  'claim.has-account': 'An account with this address exists. Sign in with its password.',
  'claim.forgot': 'Forgot the password?',
  'claim.your-address': 'Your mail address',
  'claim.address-hint': 'You sign in with this address.',

  'proof.about': 'This confirms that you receive mail at {address}.',
  'proof.sign-in': 'Sign in first',
  'proof.sign-in-text': 'Sign in on this browser, then open the link in the email again. It is still valid.',
  'proof.wrong-account': 'Wrong account',
  'proof.wrong-account-text':
    'The link belongs to another account. Sign in with that account. The link is still valid.',

  'forward.confirm': 'Confirm forwarding',
  'forward.about': 'The organization {organization} wants to forward all mail for {source} to {destination}.',
  'forward.decline': 'To decline, close this page. Nothing is forwarded without confirmation.',
  'forward.done': 'Forwarding confirmed',
  'forward.done-text': 'Mail for {source} is now forwarded to {destination}.',
  'forward.missing': 'The link is incomplete, was replaced by a newer one, or the forward was removed.',
  'forward.used': 'Forwarding is already confirmed. To stop it, contact the organization that set it up.',
  'forward.expired': 'The link has expired. The organization can send a new one.',
  'forward.frozen': 'The operator of this mail server has frozen the organization. Nothing is forwarded.',

  'unsubscribe.title': 'Unsubscribe',
  'unsubscribe.button': 'Unsubscribe',
  'unsubscribe.about': '{recipient} will no longer receive mail from the programs of {organization}.',
  'unsubscribe.done': 'Unsubscribed',
  'unsubscribe.done-text':
    'The programs of {organization} no longer send to {recipient}. Mail already in transit may still arrive.',
  'unsubscribe.undo': 'Subscribe again',
  'unsubscribe.bad-link': 'The link is incomplete. Copy the whole address from the message.',
  'unsubscribe.bad-form': 'Invalid form. Reload the page and try again.',
  'unsubscribe.flooded': 'Try again in {wait}.',

  'device.set-up': 'Set up {name}',
  'device.title': 'Set up a device',
  'device.about': 'Adds the mailbox {address} to this device, with a password of its own. The link works once.',
  'device.profile': 'iPhone, iPad or Mac: download the profile',
  'device.settings': 'Another device: show the settings',
  'device.after': 'After the download: Settings, Profile Downloaded, Install.',
  'device.settings-for': 'Settings for {name}',
  'device.settings-title': 'Settings',
  'device.once': 'Shown only once, and for this device only: enter it now.',
  'device.user-name': 'User name',
  'device.receiving': 'Receiving (IMAP)',
  'device.sending': 'Sending (SMTP)',
  'device.server': '{host}, port {port}, {tls}',
  'device.bad-link': 'The link was used, has expired, or is incomplete. Create another one on the page of the mailbox.',
  'device.too-many': 'Too many passwords',
  'device.too-many-text':
    'The mailbox has 50 passwords, which is the limit. Revoke one on its page, then open the link again.',

  'front.title': 'Mail server',
  'front.local': 'A mail server on this machine',
  'front.about':
    'Mailstead receives, stores, serves and sends mail for its domains: IMAP and SMTP for mail programs, HTTP for programs, MCP for agents.',
  'front.mail': 'Open your mail',
  'front.portal': 'Sign in to the portal',
  'front.endpoint': 'The endpoint is {url}. One call creates an organization and a token:',
  'front.claim': 'Its owner receives a claim link by email.',
  'front.operators': 'For operators',
  'front.monitoring': '{help} on the server. Monitoring: {health}, {readiness}, {metrics}.',
  'front.health': 'health',
  'front.readiness': 'readiness',
  'front.metrics': 'metrics',

  'billing.title': 'No payment required',
  'billing.text': 'This mail server requires no payment, and no payment method can be added.',
} as const;
