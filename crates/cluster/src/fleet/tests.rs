use url::Url;

use super::job::{Dead, Job, token};
use super::{Access, Error};

fn access(servers: &[&str], trusted: &[&str]) -> Access {
    Access {
        servers: servers.iter().map(|url| Url::parse(url).expect("a URL")).collect(),
        trusted_hosts: trusted.iter().map(|host| (*host).to_owned()).collect(),
        ..Access::default()
    }
}

#[test]
fn other_machines_are_spoken_to_over_tls_unless_they_are_trusted() {
    let here = ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:4222", "nats://127.1.2.3"];
    assert!(access(&here, &[]).check().is_ok());
    assert!(access(&["tls://nats.example:4222", here[0]], &[]).check().is_ok());
    assert!(access(&["nats://nats.example"], &["NATS.example"]).check().is_ok());
    assert!(access(&["nats://10.0.0.7"], &["*"]).check().is_ok());
    for plain in ["nats://nats.example", "nats://10.0.0.7:4222", "nats://127.0.0.1.example", "nats://localhost.example"]
    {
        assert!(matches!(access(&[here[0], plain], &["other.example"]).check(), Err(Error::Plain(_))), "{plain}");
    }
    assert!(matches!(access(&[], &[]).check(), Err(Error::NoServer)));
}

#[test]
fn names_of_repositories_become_one_token_each_of_its_own() {
    let names = ["a/b", "a.b/c", "a/b.c", "a-b/c", "a_b/c", "a/b-c", "a..b/c"];
    let tokens: std::collections::HashSet<String> = names.iter().map(|name| token(name)).collect();
    assert_eq!(tokens.len(), names.len());
    assert!(tokens.iter().all(|token| !token.contains(['.', '*', '>', ' '])));
}

#[test]
fn a_dead_job_is_the_job_and_its_reason() {
    let job = Job::new("a/b".to_owned(), "https://host/a/b".to_owned(), "refs/heads/main".to_owned(), "c".repeat(40));
    let dead = Dead { job: job.clone(), reason: "no".to_owned(), attempts: 5, worker: "host-1".to_owned(), at: 7 };
    let json = serde_json::to_value(&dead).expect("it is JSON");
    assert_eq!((&json["repo"], &json["version"], &json["reason"]), (&"a/b".into(), &1.into(), &"no".into()));
    assert_eq!(serde_json::from_value::<Dead>(json).expect("it is one"), dead);
    assert_eq!(job.id(), format!("a/b@{}", "c".repeat(40)));
}
