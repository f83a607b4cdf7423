/** Messages about policies of agents. */
export const policies = {
  'policy.made': 'Policy created. It has no effect until you attach it to a mailbox or token.',
  'policy.changed': 'Policy changed. It applies from the next message on.',
  'policy.attached': 'Policy attached.',
  'policy.removed': 'Policy deleted.',
  'policy.about':
    'Rules for what agents may do alone, what needs approval, and what is blocked. If a token and its mailbox both have a policy, the stricter one applies.',
  'policy.none': 'No policies',
  'policy.none-text':
    'Without a policy, an agent may write to anybody. Mail to new recipients needs approval once the agent has read untrusted content.',

  'policy.unattached': 'Not attached.',
  'policy.attached-to': 'Attached to {names}.',
  'policy.token': 'token {name}',
  'policy.may': 'Allowed',
  'policy.waits': 'Needs approval',
  'policy.never': 'Blocked',
  'policy.remove-question': 'Deletes {name}.',
  'policy.change-question': 'Applies from the next message on, wherever this policy is attached.',

  'policy.recipients': 'Allowed recipients',
  'policy-sends.preset': 'Preset default',
  'policy-sends.anybody': 'Anybody',
  'policy-sends.replies': 'Replies only',
  'policy-sends.allowed': 'Only the allow list',
  'policy-sends.nobody': 'Nobody',
  'policy.allow-list': 'Allow list',
  'policy.allow-hint':
    'Addresses or domains. Mail to these never needs approval because of content that the agent has read.',
  'policy.block-list': 'Block list',
  'policy-waits.hold': 'Mail to new recipients, after reading untrusted content',
  'policy-waits.rules': 'Forwards, webhooks, allowed senders, tokens, keys and passwords',

  'policy.attach-title': 'Attach a policy',
  'policy.attach-about':
    'The password of a governed mailbox counts as an agent’s. If you use the mailbox too, create an app password for yourself first.',
  'policy.attach': 'Attach policy',
  'policy.target': 'Mailbox or token',
  'policy.name': 'Policy',
  'policy.detach': 'None (detach)',

  'policy.create-title': 'Create a policy',
  'policy.create-another': 'Create another policy',
  'policy.create': 'Create policy',
  'policy.preset': 'Preset',
  'policy-preset.internal': 'Trusted internal: writes to anybody, limited new recipients',
  'policy-preset.support': 'Support: replies only',
  'policy-preset.sign-up': 'Sign-up bot: receives mail and codes, sends nothing',
  'policy-preset.custom': 'Custom',
} as const;
