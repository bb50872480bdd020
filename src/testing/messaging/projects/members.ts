import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../../core/types.js';
import { notFound } from '../find.js';
import { listAnswer } from '../lists.js';
import type { Member, Scope } from '../state.js';
import { addUser, userByEmail } from '../users/accounts.js';
import { readBody } from '../validate.js';

/** Bodies and the values of roles are not shown: any text is a role. */
export const memberHandlers: Handlers<Scope> = {
  'GET /projects/{id}/members': list,
  'POST /projects/{id}/members': invite,
  'PATCH /projects/{id}/members/{userId}': updateRole,
  'DELETE /projects/{id}/members/{userId}': remove,
};

function list(request: FakeRequest, scope: Scope): FakeAnswer {
  const items = scope.project.members.map(view);
  return listAnswer(scope, request, { items, name: 'members', style: 'array' });
}

/** A person without an account gets one, to be claimed by a password reset. */
function invite(request: FakeRequest, { world, project }: Scope): FakeAnswer {
  const { email, role = 'MEMBER' } = readBody(request, (fields) => ({
    email: fields.requiredEmail('email'),
    role: fields.text('role'),
  }));
  const user = userByEmail(world, email) ?? addUser(world, { email, password: world.id('secret') });
  if (project.members.some(({ userId }) => userId === user.id)) {
    throw new Refusal(400, 'STATE_CONFLICT', `${email} is a member.`);
  }
  const member = { userId: user.id, email: user.email, role };
  project.members.push(member);
  return { status: 201, body: view(member) };
}

function updateRole(request: FakeRequest, scope: Scope): FakeAnswer {
  const member = findMember(request, scope);
  member.role = readBody(request, (fields) => fields.requiredText('role'));
  return { body: view(member) };
}

function remove(request: FakeRequest, scope: Scope): FakeAnswer {
  const { members } = scope.project;
  members.splice(members.indexOf(findMember(request, scope)), 1);
  return { status: 204 };
}

function findMember({ params }: FakeRequest, { project }: Scope): Member {
  const member = project.members.find(({ userId }) => userId === params.userId);
  if (member === undefined) {
    throw notFound(params.userId ?? '');
  }
  return member;
}

const view = (member: Member) => ({ id: member.userId, ...member });
