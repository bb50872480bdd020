import { describe, expect, it } from 'vitest';
import { holdLaw, type Subject } from './exceptions.js';

const sound: Subject = { name: 'sound', check: () => undefined };
const broken: Subject = {
  name: 'broken',
  check: () => Promise.reject(new TypeError('two mails for one send')),
};

describe('the exceptions of a law', () => {
  it('passes when every subject holds', async () => {
    await expect(holdLaw('a law', [sound])).resolves.toBeUndefined();
  });

  it('fails with the name of each subject that does not hold', async () => {
    await expect(holdLaw('a law', [sound, broken])).rejects.toThrow('a law');
    await expect(holdLaw('a law', [broken])).rejects.toMatchObject({
      actual: ['broken: TypeError: two mails for one send'],
    });
  });

  it('lets a subject fail that is excepted by its finding', async () => {
    await expect(holdLaw('a law', [sound, broken], { M1: ['broken'] })).resolves.toBeUndefined();
  });

  it('fails when an excepted subject holds again, so that its owner takes it off', async () => {
    await expect(holdLaw('a law', [sound], { M1: ['sound'] })).rejects.toMatchObject({
      actual: ['sound: holds now, so take it off the exceptions for M1'],
    });
  });

  it('fails when an exception names no subject', async () => {
    await expect(holdLaw('a law', [sound], { M1: ['gone'] })).rejects.toMatchObject({
      actual: ['gone: excepted for M1, but there is no such subject'],
    });
  });

  it('fails when two subjects have one name', async () => {
    await expect(holdLaw('a law', [sound, sound])).rejects.toThrow('different names');
  });
});
