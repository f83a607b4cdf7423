/** Messages about members and the sign-in policy. */
export const members = {
  'member.invited': 'Invitation sent. Its link expires in 7 days.',
  'member.removed': 'Member removed.',
  'member.about': 'Members of this organization and their roles.',
  'member.person': 'Person',
  'member.pending': 'Pending',
  'member.unverified': 'Address unverified',
  'member.change': 'Change',
  'member.role-of': 'Role of {address}.',
  'member.mailboxes-hint': 'Applies to members only.',
  'member.remove-question':
    '{address} loses access to this organization. Passwords that they know stay valid: change them.',
  'member.invite-title': 'Invite a person',
  'member.invite': 'Send invitation',
  'member.invite-hint': 'A member has access to assigned mailboxes, an administrator to everything.',

  'sign-in-policy.saved': 'Sign-in policy saved.',
  'sign-in-policy.title': 'Sign-in policy',
  'sign-in-policy.enrolled': {
    one: '{enrolled} of {count} person has a second factor.',
    other: '{enrolled} of {count} people have a second factor.',
  },
  'sign-in-policy.required-for': 'Second factor required for',
  'sign-in-policy.none': 'Nobody',
  'sign-in-policy.owners': 'Owners',
  'sign-in-policy.admins': 'Owners and administrators',
  'sign-in-policy.everybody': 'Everybody',
  'sign-in-policy.allowed': 'Allowed',
  'sign-in-policy.required': 'Required, except for owners',
  'sign-in-policy.hint':
    'People without a second factor must set one up before they can continue. Tokens are unaffected.',
} as const;
