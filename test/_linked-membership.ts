// A node's membership alone, over a link of its own: a node's announcements, without the node.

import type { Host } from "../src/base/ports.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { ServiceLinks } from "../src/roles/links/service-links.ts";
import type { MemberDetails } from "../src/roles/members/member-details.ts";
import type { Announced } from "../src/roles/members/member-list.ts";
import { createMembership, type Membership } from "../src/roles/members/membership.ts";
import { key, testHost, type TestDeployment } from "./_cluster.ts";

export interface LinkedMember {
  readonly host: Host;
  readonly gateway: string;
  readonly offered: () => Announced;
  readonly about?: () => MemberDetails;
  /** Its answers to calls. */
  readonly answer: string;
}

/** Dials the gateway. The membership hasn't joined yet. */
export async function linkedMembership(member: LinkedMember): Promise<Membership> {
  const { host, gateway, offered, about, answer } = member;
  const instance = crypto.randomUUID();
  const links = new ServiceLinks({
    host,
    role: "node",
    instance,
    trustKey: key,
    limits: defaultLimits,
  });
  links.serve(async () => ({ status: 200, headers: {}, body: answer }));
  const link = links.dial(gateway, ["gateway"], {
    onLinked: () => membership.linked(),
    onLost: () => membership.lost(),
  });
  const membership = createMembership({
    host,
    gateway,
    link,
    offered,
    ...(about && { about }),
  });
  await link.start();
  return membership;
}

/** The same in memory, and joins as the node at `url`. It answers calls with its name. */
export async function joinedOver(
  { network, clock, log }: TestDeployment,
  url: string,
  offered: () => Announced,
): Promise<{ readonly membership: Membership; readonly joined: Promise<void> }> {
  const answer = new URL(url).hostname;
  // It is there, so that it may dial.
  network.roles.set(url, {
    handle: async () => ({ status: 200, headers: {}, body: answer }),
  } as never);
  const membership = await linkedMembership({
    host: testHost(network, clock, log, { url, trustKey: key }),
    gateway: "http://gateway",
    offered,
    about: () => ({ name: "long", segments: [], procedures: [] }),
    answer,
  });
  return { membership, joined: membership.join(url) };
}
