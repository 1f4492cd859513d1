# The shop's network.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

provider "aws" {
  region = var.region
}

// Where it runs.
variable "region" {
  type        = string
  default     = "eu-west-1"
  description = "The region."
}

locals {
  name  = "shop"
  ports = [for p in [80, 443] : p if p > 80]
}

data "aws_ami" "linux" {
  most_recent = true
}

/* The server. */
resource "aws_instance" "web" {
  count         = var.region == "x" ? 1 : 0
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"

  root_block_device {
    volume_size = 8
  }
}

module "vpc" {
  source = "./vpc"
  cidr   = "10.0.0.0/16"
}

output "address" {
  value = aws_instance.web[0].public_ip
}
